import type { TokenKind } from '../token.ts';
import { aiKinds } from './ai.ts';
import { businessKinds } from './business.ts';
import { cloudKinds } from './cloud.ts';
import { codeKinds } from './code.ts';
import { commonKinds } from './common.ts';

/** Every secret that is known by its letters. A new vendor is a row in one of these lists. */
export const tokenKinds: readonly TokenKind[] = [
  ...aiKinds,
  ...cloudKinds,
  ...codeKinds,
  ...businessKinds,
  ...commonKinds,
];
