import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fateWords } from '../src/report/compaction-account.ts';
import { formatCount } from '../src/report/terminal.ts';
import { tokens } from './parts.tsx';
import { type ArchivedMessage, act, type Detail, type FoldView, readHandle, settings } from './state.ts';

/** What a fold has done: receipt, what stands there now, the memory as it is sent, and what can be read again. */
export function FoldPanel({ view, open }: { view: FoldView; open: Detail }) {
  const isUndone = open.wishes.foldedUpTo !== undefined && view.boundary > open.wishes.foldedUpTo;
  return (
    <section class="panel" aria-labelledby="fold">
      <header>
        <h2 id="fold">
          Fold of the first {view.boundary} messages <small>{view.strategy}</small>
        </h2>
        {settings.value.takesActions &&
          (isUndone ? (
            <button type="button" onClick={() => void act('redo')}>
              Use it again
            </button>
          ) : (
            <button type="button" onClick={() => void act('undo', { fold: view.id })}>
              Undo this fold
            </button>
          ))}
      </header>
      <p class="note">
        {isUndone
          ? 'Undone: from the next request on the conversation goes out as it was before this fold, for as long as it fits its window.'
          : `${formatCount(view.tokensBefore)} tokens before, ${formatCount(view.tokensAfter)} after. Undoing it writes the prompt cache anew with the next request.`}
      </p>
      <div class="pair">
        <Receipt view={view} />
        <Now view={view} />
      </div>
      <Survived view={view} />
      <Memory view={view} />
      <Handles view={view} open={open} />
    </section>
  );
}

function stretch(start: number, end: number): string {
  return end - start === 1 ? `message ${start + 1}` : `messages ${start + 1}–${end}`;
}

/** What became of every message. Numbers count from 1, behind the system messages in front. */
function Receipt({ view }: { view: FoldView }) {
  return (
    <div>
      <h3>Receipt: what became of each message</h3>
      <div class="scroll tall">
        <table>
          <thead>
            <tr>
              <th>Messages</th>
              <th>Fate</th>
              <th class="n">Tokens</th>
            </tr>
          </thead>
          <tbody>
            {byFate(view.runs).map((run) => (
              <tr key={run.start}>
                <td>{stretch(run.start, run.end)}</td>
                <td class={`fate ${run.fate}`}>{fateWords[run.fate]}</td>
                <td class="n">{formatCount(run.tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Neighbours of one fate together: they are apart because what left is kept under several handles. */
function byFate(runs: FoldView['runs']): readonly FoldView['runs'][number][] {
  const joined: FoldView['runs'][number][] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (last?.fate === run.fate)
      joined[joined.length - 1] = { ...last, end: run.end, tokens: last.tokens + run.tokens };
    else joined.push(run);
  }
  return joined;
}

/** The difference: what stands in the place of what. */
function Now({ view }: { view: FoldView }) {
  return (
    <div>
      <h3>Diff: what is sent now</h3>
      <div class="scroll tall">
        <ol class="diff">
          {view.parts.map((part) =>
            part.kind === 'kept' ? (
              <li key={`k${part.start}`} class="kept">
                <span class="sign">&nbsp;</span> {stretch(part.start, part.end)}
              </li>
            ) : (
              <li key={`m${part.of.map(({ start }) => start).join()}`}>
                {part.of.map(({ start, end }) => (
                  <span class="out" key={start}>
                    <span class="sign">−</span> {stretch(start, end)}
                    <small>{formatCount(tokensIn(view, start, end))} tokens</small>
                  </span>
                ))}
                <span class="in" title={part.text}>
                  <span class="sign">+</span> {nameOfMade(part, view)}
                  <small>{formatCount(part.tokens)} tokens</small>
                </span>
              </li>
            ),
          )}
        </ol>
      </div>
    </div>
  );
}

type Made = Extract<FoldView['parts'][number], { kind: 'made' }>;

function nameOfMade(part: Made, view: FoldView): string {
  const [first] = part.of;
  if (first === undefined) return 'a note';
  return isMemory(part, view) ? 'memory' : `${stretch(first.start, first.end)} made smaller`;
}

/** A message that was made smaller speaks for itself; one that speaks for others is the memory. */
function isMemory({ of }: Made, { runs }: FoldView): boolean {
  const place = of[0]?.start ?? -1;
  return runs.some(({ start, end, fate }) => start <= place && place < end && fate !== 'reduced');
}

/** Runs are known in tokens, and stretches are made of whole runs nearly always. */
function tokensIn({ runs }: FoldView, start: number, end: number): number {
  return runs.reduce((sum, run) => {
    const shared = Math.min(end, run.end) - Math.max(start, run.start);
    return shared > 0 ? sum + (run.tokens * shared) / (run.end - run.start) : sum;
  }, 0);
}

function Survived({ view }: { view: FoldView }) {
  const told = view.survival.filter(({ found }) => found > 0);
  if (told.length === 0) return null;
  return (
    <p class="note survived">
      Facts in what was summarised that are still there word for word:{' '}
      {told.map(({ kind, found, kept }) => (
        <span key={kind}>
          {kind} <b>{kept}</b> of {found}
        </span>
      ))}
    </p>
  );
}

function Memory({ view }: { view: FoldView }) {
  const memories = view.parts.filter((part) => part.kind === 'made').filter((part) => isMemory(part, view));
  return (
    <div>
      <h3>Memory as it is sent</h3>
      {memories.length === 0 && <p class="note">None was needed: messages were only made smaller.</p>}
      {memories.length > 0 && !settings.value.showsContent && (
        <p class="note">Texts are not shown. Start the proxy with --show-content to see them here.</p>
      )}
      {memories.map(
        ({ text }) =>
          text !== undefined && (
            <pre key={text} class="text">
              {text}
            </pre>
          ),
      )}
    </div>
  );
}

function Handles({ view, open }: { view: FoldView; open: Detail }) {
  const handles = [...new Set(view.runs.flatMap(({ handle }) => handle ?? []))];
  if (handles.length === 0) return <p class="note">Nothing of what left is kept.</p>;
  return (
    <div>
      <h3>
        What left, and can be read again <small>{handles.length}</small>
      </h3>
      <div class="scroll tall">
        {handles.map((handle) => {
          const runs = view.runs.filter((run) => run.handle === handle);
          const places = runs.map(({ start, end }) => stretch(start, end)).join(', ');
          return <Handle key={handle} {...{ handle, places, open }} />;
        })}
      </div>
    </div>
  );
}

function Handle({ handle, places, open }: { handle: string; places: string; open: Detail }) {
  const isOpen = useSignal(false);
  const messages = useSignal<readonly ArchivedMessage[] | undefined>(undefined);
  useEffect(() => {
    if (!isOpen.value || messages.value !== undefined) return;
    void readHandle(handle).then((read) => {
      messages.value = read;
    });
  }, [isOpen.value]);
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary data-row>
        {places} <code>{handle.slice(0, 19)}</code>
      </summary>
      {messages.value !== undefined && <Left messages={messages.value} open={open} />}
    </details>
  );
}

function Left({ messages, open }: { messages: readonly ArchivedMessage[]; open: Detail }) {
  const pinned = new Set(open.wishes.pinned);
  return (
    <ul class="left">
      {messages.map(({ place, role, blocks, tokens: count, text }, index) => (
        <li key={index}>
          <span class="about">
            <b>{place === undefined ? '' : place + 1}</b> {role} <small>{blocks.join(', ')}</small>
            <span class="n">{tokens(count)}</span>
            {place !== undefined && settings.value.takesActions && (
              <button
                type="button"
                aria-pressed={pinned.has(place)}
                title="A pinned message stays word for word. The conversation is folded anew with the next request."
                onClick={() => void act(pinned.has(place) ? 'unpin' : 'pin', { place })}
              >
                {pinned.has(place) ? 'Pinned' : 'Pin'}
                <span class="sr"> message {place + 1}</span>
              </button>
            )}
          </span>
          {text !== undefined && <pre class="text">{text}</pre>}
        </li>
      ))}
    </ul>
  );
}
