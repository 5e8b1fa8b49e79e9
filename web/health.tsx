import type { ComponentChildren } from 'preact';
import { formatCount } from '../src/report/terminal.ts';
import { clock, Stat, tokens } from './parts.tsx';
import { health } from './state.ts';

/** How the proxy is doing. */
export function HealthView() {
  const state = health.value;
  if (state === undefined) return <p class="empty">Loading…</p>;
  const { compactions, store } = state;
  return (
    <>
      <h1>Health</h1>
      <p class="lead">
        What this proxy has done since it started, {new Date(state.startedAt).toLocaleString('en-GB')}.
      </p>
      <dl class="stats">
        <Stat name="Requests" note={`${formatCount(state.activeStreams)} under way`}>
          {formatCount(state.requests)}
        </Stat>
        <Stat name="Breaker" isLoss={state.paused > 0} note={state.pauseReason ?? 'folds go on'}>
          {state.paused === 0 ? 'closed' : `open for ${state.paused}`}
        </Stat>
        <Stat name="Folds kept" note={`${compactions.refused} refused, ${compactions.failed} failed`}>
          {formatCount(compactions.saved)}
        </Stat>
        <Stat name="Overflow recoveries" note="inside a request">
          {formatCount(state.recoveries)}
        </Stat>
        <Stat
          name="Store failures"
          isLoss={store.count > 0}
          note={store.last === undefined ? 'none' : `${store.last}, ${clock(store.lastAt ?? 0)}`}
        >
          {formatCount(store.count)}
        </Stat>
        <Stat name="Failed answers" isLoss={state.upstreamErrors > 0} note="HTTP 400 and above">
          {formatCount(state.upstreamErrors)}
        </Stat>
      </dl>
      <div class="pair">
        <Table heading="Requests by what became of them" empty="No requests yet.">
          {Object.entries(state.byStatus).map(([status, count]) => (
            <Line key={status} name={status} count={formatCount(count)} />
          ))}
        </Table>
        <Table heading="Passed as they came, by reason" empty="None.">
          {state.passed.map(({ reason, words, count }) => (
            <Line key={reason} name={words} count={formatCount(count)} />
          ))}
        </Table>
        <Table heading="Refused by the proxy, by reason" empty="None.">
          {state.refused.map(({ reason, words, count }) => (
            <Line key={reason} name={words} count={formatCount(count)} />
          ))}
        </Table>
        <Table heading="Windows learnt from overflow answers" empty="None.">
          {state.windows.map(({ model, windowTokens }) => (
            <Line key={model} name={model} count={tokens(windowTokens)} />
          ))}
        </Table>
      </div>
    </>
  );
}

function Table({
  heading,
  empty,
  children,
}: {
  heading: string;
  empty: string;
  children: ComponentChildren;
}) {
  const isEmpty = Array.isArray(children) && children.length === 0;
  return (
    <section>
      <h2>{heading}</h2>
      {isEmpty ? (
        <p class="empty">{empty}</p>
      ) : (
        <table>
          <tbody>{children}</tbody>
        </table>
      )}
    </section>
  );
}

function Line({ name, count }: { name: string; count: string }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="n">{count}</td>
    </tr>
  );
}
