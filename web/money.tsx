import { formatCount } from '../src/report/terminal.ts';
import { MoneyChart } from './money-chart.tsx';
import { clock, Saving, Stat, usd } from './parts.tsx';
import { type Money, money } from './state.ts';

/** What everything has cost, against what it would have cost without us. */
export function MoneyView() {
  const sums = money.value;
  if (sums === undefined) return <p class="empty">Loading…</p>;
  const isLoss = sums.sent > sums.direct;
  return (
    <>
      <h1>Money</h1>
      <p class="lead">
        Since this proxy started, by list prices and what the providers reported. Direct is the same requests
        as they came, with the same share of them read from the cache.
      </p>
      <dl class="stats">
        <Stat name="Sent" note={`${formatCount(sums.turns)} turns`}>
          {usd(sums.sent)}
        </Stat>
        <Stat name="Direct" note="without folds">
          {usd(sums.direct)}
        </Stat>
        <Stat name={isLoss ? 'Lost in all' : 'Saved in all'} isLoss={isLoss} note={shareOf(sums)}>
          {usd(Math.abs(sums.direct - sums.sent))}
        </Stat>
        <Stat name="Losing turns" isLoss={sums.lost > 0} note={`${usd(sums.saved)} saved by others`}>
          {usd(sums.lost)}
        </Stat>
        <Stat name="Cache writes" note="part of what was sent">
          {usd(sums.cacheWrites)}
        </Stat>
        {sums.summaries + sums.unpricedSummaries > 0 && (
          <Stat
            name="Summaries"
            note={
              sums.unpricedSummaries === 0
                ? 'by models, part of what was sent'
                : `${formatCount(sums.unpricedSummaries)} without a price`
            }
          >
            {usd(sums.summaries)}
          </Stat>
        )}
        <Stat name="Without a price" note={`${formatCount(sums.cutTurns)} would have been cut`}>
          {formatCount(sums.unpricedTurns)} <small>turns</small>
        </Stat>
      </dl>
      <section aria-label="Costs over time">
        <h2>
          Costs, request by request <small>sums since the proxy started</small>
        </h2>
        <MoneyChart series={sums.series} />
      </section>
      <Losses sums={sums} />
      <Models sums={sums} />
    </>
  );
}

function shareOf({ direct, sent }: Money): string {
  return direct === 0
    ? 'nothing to compare yet'
    : `${Math.abs(Math.round((1 - sent / direct) * 100))} % of direct`;
}

function Losses({ sums }: { sums: Money }) {
  return (
    <section aria-labelledby="losses">
      <h2 id="losses">
        Turns that cost more <small>the dearest first</small>
      </h2>
      {sums.losses.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <div class="scroll tall short">
          <table>
            <thead>
              <tr>
                <th>Time</th>
                <th>Turn</th>
                <th class="n roomy">Direct</th>
                <th class="n roomy">Sent</th>
                <th class="n">Saved</th>
              </tr>
            </thead>
            <tbody>
              {sums.losses.map((loss) => (
                <tr key={`${loss.id} ${loss.turn} ${loss.at}`}>
                  <td>{clock(loss.at)}</td>
                  <td>
                    <a href={`#/c/${loss.id}`} data-row>
                      {loss.turn}
                      {loss.isFold ? ', first with a fold' : ''}
                      {loss.isSummary ? ', summary by a model' : ''}
                    </a>
                  </td>
                  <td class="n roomy">{usd(loss.direct)}</td>
                  <td class="n roomy">{usd(loss.sent)}</td>
                  <td class="n">
                    <Saving {...loss} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Models({ sums }: { sums: Money }) {
  return (
    <section aria-labelledby="models">
      <h2 id="models">By model</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Model</th>
              <th class="n roomy">Turns</th>
              <th class="n">Direct</th>
              <th class="n">Sent</th>
              <th class="n roomy">Cache writes</th>
              <th class="n">Saved</th>
            </tr>
          </thead>
          <tbody>
            {sums.byModel.map((model) => (
              <tr key={model.model}>
                <th scope="row">{model.model}</th>
                <td class="n roomy">{formatCount(model.turns)}</td>
                <td class="n">{usd(model.direct)}</td>
                <td class="n">{usd(model.sent)}</td>
                <td class="n roomy">{usd(model.cacheWrites)}</td>
                <td class="n">
                  {model.unpricedTurns === model.turns && model.summaries === 0 ? (
                    'no prices'
                  ) : (
                    <Saving {...model} />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
