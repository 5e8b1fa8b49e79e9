import { clock, Gauge, nextFold, Saving, Status, share, tokens } from './parts.tsx';
import { type Row, rows } from './state.ts';

/** The live list. */
export function Conversations() {
  return (
    <section aria-labelledby="heading">
      <h1 id="heading">
        Conversations <small>{rows.value.length}</small>
      </h1>
      <p class="lead">What has come through this proxy since it started.</p>
      {rows.value.length === 0 ? <Nothing /> : <List list={rows.value} />}
    </section>
  );
}

function Nothing() {
  return (
    <p class="empty">
      Nothing has come through yet. Point a client at this address: its conversations appear here as they
      happen.
    </p>
  );
}

function List({ list }: { list: readonly Row[] }) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th class="who">Client</th>
          <th class="context">Context</th>
          <th class="n sent">Sent / window</th>
          <th class="n next">Next fold</th>
          <th class="n turns">Turns</th>
          <th class="n folds">Folds</th>
          <th class="n cache">Cached</th>
          <th class="n saved">Saved</th>
          <th class="n at">Last</th>
        </tr>
      </thead>
      <tbody>
        {list.map((row) => (
          <ListRow key={row.id} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function ListRow({ row }: { row: Row }) {
  const name = row.client ?? 'unknown client';
  return (
    <tr>
      <th class="who" scope="row">
        <a href={`#/c/${row.id}`} data-row>
          {name}
        </a>
        <small>{row.model ?? 'no model'}</small>
      </th>
      <td class="context">
        <Gauge row={row} />
        <Status row={row} />
      </td>
      <td class="n sent">
        {tokens(row.tokensSent)} <small class="inline">/ {tokens(row.windowTokens)}</small>
      </td>
      <td class="n next">{nextFold(row)}</td>
      <td class="n turns">{row.turns}</td>
      <td class="n folds">{row.folds}</td>
      <td class="n cache">{share(row.cacheHitRate)}</td>
      <td class="n saved">
        <Saving {...row.money} isQuiet />
      </td>
      <td class="n at">{clock(row.lastAt)}</td>
    </tr>
  );
}
