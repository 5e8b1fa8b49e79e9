import type { CommandGroup } from '../command.ts';
import { EXIT_CODE_TEXT } from '../exit-codes.ts';
import { exportRecords } from '../store/export.ts';
import { forget } from '../store/forget.ts';
import { collect } from '../store/gc.ts';
import { importRecords } from '../store/import.ts';
import { list } from '../store/ls.ts';
import { STORE_TEXT } from '../store/options.ts';
import { show } from '../store/show.ts';
import { verify } from '../store/verify.ts';

/** `roundfold store`: what is kept between turns. */
export const store: CommandGroup = {
  name: 'store',
  summary: 'look after what is kept between turns: checkpoints, and the messages that left',
  commands: [list, show, collect, exportRecords, importRecords, verify, forget],
  examples: [
    ['roundfold store ls', 'what there is'],
    ['roundfold store gc --unused-days 30', 'forget what nobody has used for a month'],
    ['roundfold store export backup.jsonl', 'everything, in one file for you alone'],
  ],
  details: () => `${STORE_TEXT}\n${EXIT_CODE_TEXT}\n`,
};
