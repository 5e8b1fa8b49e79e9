import { formatCount } from '../src/report/terminal.ts';
import { FoldPanel } from './fold.tsx';
import { clock, nextFold, Saving, Stat, Status, share, tokens, usd } from './parts.tsx';
import { act, type Detail, detail, type FoldRow, fold, settings, steps, type Turn } from './state.ts';
import { TurnChart } from './turn-chart.tsx';

/** Turns that are listed; the chart has all of them. */
const LISTED_TURNS = 100;

/** One conversation. */
export function Conversation() {
  const open = detail.value;
  if (open === undefined) return <p class="empty">Loading…</p>;
  const foldName = steps.value[2] === 'f' ? steps.value[3] : undefined;
  return (
    <>
      <nav class="trail" aria-label="Where you are">
        <a href="#/">Conversations</a> / <span>{open.client ?? 'unknown client'}</span>
      </nav>
      <h1>
        {open.client ?? 'unknown client'} <small>{open.model}</small>
      </h1>
      <p class="lead">
        <Status row={open} />
        {open.wishes.foldedUpTo !== undefined && settings.value.takesActions && (
          <button type="button" onClick={() => void act('redo')}>
            Fold again
          </button>
        )}
      </p>
      <Numbers open={open} />
      <section aria-label="Tokens by turn">
        <h2>
          Tokens received, by turn and kind <small>the line is what was sent</small>
        </h2>
        <TurnChart
          turns={open.turnList}
          windowTokens={open.windowTokens}
          triggerTokens={open.triggerTokens}
        />
      </section>
      <Folds open={open} selected={foldName} />
      {foldName !== undefined && fold.value !== undefined && <FoldPanel view={fold.value} open={open} />}
      <Turns open={open} />
    </>
  );
}

function Numbers({ open }: { open: Detail }) {
  const { money } = open;
  const isLoss = money.sent > money.direct;
  return (
    <dl class="stats">
      <Stat name="Sent" note={`of ${tokens(open.windowTokens)} window`}>
        {tokens(open.tokensSent)}
      </Stat>
      <Stat name="Received" note={`${formatCount(open.messages)} messages`}>
        {tokens(open.tokensReceived)}
      </Stat>
      <Stat name="Next fold" note={`due at ${tokens(open.triggerTokens)}`}>
        {nextFold(open)}
      </Stat>
      <Stat name="Read from cache" note="of all prompt tokens">
        {share(open.cacheHitRate)}
      </Stat>
      <Stat name="Cost" note={`${usd(money.direct)} direct`}>
        {usd(money.sent)}
      </Stat>
      <Stat
        name={isLoss ? 'Lost' : 'Saved'}
        isLoss={isLoss}
        note={money.lost > 0 ? <Losses lost={money.lost} /> : 'no turn lost'}
      >
        {usd(Math.abs(money.direct - money.sent))}
      </Stat>
    </dl>
  );
}

function Losses({ lost }: { lost: number }) {
  return <span class="loss">{usd(lost)} in losing turns</span>;
}

function Folds({ open, selected }: { open: Detail; selected: string | undefined }) {
  return (
    <section aria-labelledby="folds">
      <h2 id="folds">
        Folds <small>{open.foldList.length}</small>
      </h2>
      {open.foldList.length === 0 ? (
        <p class="empty">Not folded yet: everything goes out as it came.</p>
      ) : (
        <div class="scroll tall short">
          <table>
            <thead>
              <tr>
                <th>Made</th>
                <th class="n">Messages</th>
                <th class="n">Before</th>
                <th class="n">After</th>
                <th class="roomy">Strategy</th>
                <th>State</th>
              </tr>
            </thead>
            <tbody>
              {open.foldList.toReversed().map((row) => (
                <tr key={row.id} class={row.id === selected ? 'selected' : ''}>
                  <th scope="row">
                    <a href={`#/c/${open.id}/f/${row.id}`} data-row aria-expanded={row.id === selected}>
                      {clock(row.createdAt)}
                    </a>
                  </th>
                  <td class="n">
                    {row.boundary} → {row.messagesAfter}
                  </td>
                  <td class="n">{tokens(row.tokensBefore)}</td>
                  <td class="n">{tokens(row.tokensAfter)}</td>
                  <td class="roomy">{row.strategy}</td>
                  <td>{stateOf(row, open)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function stateOf({ chain, boundary }: FoldRow, { turnList, wishes }: Detail): string {
  if (wishes.foldedUpTo !== undefined && boundary > wishes.foldedUpTo) return 'undone';
  return turnList.at(-1)?.checkpoint === chain ? 'in use' : 'kept';
}

function Turns({ open }: { open: Detail }) {
  const listed = open.turnList.slice(-LISTED_TURNS).toReversed();
  return (
    <section aria-labelledby="turns">
      <h2 id="turns">
        Turns{' '}
        <small>
          {open.turns > listed.length ? `the newest ${listed.length} of ${open.turns}` : open.turns}
        </small>
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="scroll tall" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th class="n">Turn</th>
              <th>Time</th>
              <th>Status</th>
              <th class="n">Received</th>
              <th class="n">Sent</th>
              <th class="n">Cache read</th>
              <th class="n">Written</th>
              <th class="n">Output</th>
              <th class="n">Direct</th>
              <th class="n">Cost</th>
              <th class="n">Saved</th>
              <th class="n">First byte</th>
            </tr>
          </thead>
          <tbody>
            {listed.map((turn) => (
              <TurnRow key={turn.number} turn={turn} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function TurnRow({ turn }: { turn: Turn }) {
  const { usage, money } = turn;
  const isError = turn.httpStatus === undefined || turn.httpStatus >= 400;
  const status = isError ? `HTTP ${turn.httpStatus ?? 'none'}` : turn.isFold ? 'fold' : turn.status;
  return (
    <tr>
      <td class="n">{turn.number}</td>
      <td>{clock(turn.at)}</td>
      <td class={isError ? 'loss' : turn.isFold ? 'accent' : ''}>{status}</td>
      <td class="n">{tokens(turn.tokensReceived)}</td>
      <td class="n">{tokens(turn.tokensSent)}</td>
      <td class="n">{tokens(usage?.cacheReadTokens)}</td>
      <td class="n">{tokens(usage?.cacheWriteTokens)}</td>
      <td class="n">{tokens(usage?.outputTokens)}</td>
      <td class="n">{money === undefined ? '–' : usd(money.direct)}</td>
      <td class="n">{money === undefined ? '–' : usd(money.sent)}</td>
      <td class="n">{money === undefined ? '–' : <Saving {...money} isQuiet />}</td>
      <td class="n">{turn.firstByteMs === undefined ? '–' : `${Math.round(turn.firstByteMs)} ms`}</td>
    </tr>
  );
}
