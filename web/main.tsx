import { render } from 'preact';
import { Conversation } from './conversation.tsx';
import { Conversations } from './conversations.tsx';
import { HealthView } from './health.tsx';
import { listenToKeys } from './keyboard.ts';
import { MoneyView } from './money.tsx';
import { usd } from './parts.tsx';
import { connection, problem, start, steps, totals } from './state.ts';

const VIEWS = [
  { step: undefined, name: 'Conversations', href: '#/' },
  { step: 'money', name: 'Money', href: '#/money' },
  { step: 'health', name: 'Health', href: '#/health' },
] as const;

function App() {
  const [view] = steps.value;
  const shown = view === 'c' ? undefined : view;
  return (
    <>
      <header class="top">
        <b class="name">roundfold</b>
        <nav aria-label="Views">
          {VIEWS.map(({ step, name, href }) => (
            <a key={name} href={href} aria-current={shown === step ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Balance />
        <Connection />
      </header>
      <main>
        {problem.value !== undefined && (
          <p class="problem" role="alert">
            {problem.value}
          </p>
        )}
        {view === 'c' ? (
          <Conversation />
        ) : view === 'money' ? (
          <MoneyView />
        ) : view === 'health' ? (
          <HealthView />
        ) : (
          <Conversations />
        )}
      </main>
      <footer>
        <kbd>j</kbd> <kbd>k</kbd> move <kbd>enter</kbd> open <kbd>esc</kbd> back <kbd>1</kbd>–<kbd>3</kbd>{' '}
        views
      </footer>
    </>
  );
}

/** What was saved in all, and what single turns have lost: one never hides the other. Both have their place from the start. */
function Balance() {
  const { direct = 0, sent = 0, lost = 0 } = totals.value ?? {};
  const isLoss = sent > direct;
  return (
    <p class="balance">
      {isLoss ? 'lost' : 'saved'} <b class={isLoss ? 'loss' : ''}>{usd(Math.abs(direct - sent))}</b>
      <span
        class={lost > 0 ? 'loss' : 'quiet'}
        title="Sum of the turns that cost more than they would have without folds"
      >
        losing turns <b>{usd(lost)}</b>
      </span>
    </p>
  );
}

function Connection() {
  const words = { connecting: 'connecting', live: 'live', lost: 'connection lost, trying again' };
  return (
    <p class={`connection ${connection.value}`} role="status">
      <i aria-hidden="true" />
      {words[connection.value]}
    </p>
  );
}

const host = document.getElementById('app');
if (host !== null) render(<App />, host);
listenToKeys();
start();
