import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findProgram } from '@gatehouse/api/testing/server-program';
import { type BidiConnection, connectBidi } from './bidi.ts';

const program = findProgram('firefox-esr') ?? findProgram('firefox');
const startSeconds = 60;
const waitSeconds = 30;
const pollMilliseconds = 50;

export const hasFirefox = program !== undefined;

export interface Firefox {
  /** Opens a tab with cookies of its own. */
  newTab(): Promise<Tab>;
  stop(): Promise<void>;
}

/** Starts the installed Firefox without windows, on a new profile. */
export async function startFirefox(): Promise<Firefox> {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-firefox-'));
  // Without these it asks for updates and reports outside this machine.
  const preferences = { 'intl.accept_languages': 'en-GB', 'app.update.disabledForTesting': true };
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  fs.writeFileSync(path.join(profile, 'user.js'), lines.join(''));

  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const child = spawn(program ?? 'firefox', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const connection = await connectBidi(`${await bidiAddress(child)}/session`);
  await connection.send('session.new', { capabilities: {} });

  return {
    async newTab() {
      const { userContext } = await connection.send<{ userContext: string }>('browser.createUserContext', {});
      const tab = await connection.send<{ context: string }>('browsingContext.create', { type: 'tab', userContext });
      return new Tab(connection, tab.context);
    },
    async stop() {
      connection.close();
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      fs.rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Returns the address that Firefox prints once it listens. */
async function bidiAddress(child: ChildProcess): Promise<string> {
  let printed = '';
  child.stderr?.on('data', (bytes) => {
    printed += bytes;
  });
  const deadline = Date.now() + startSeconds * 1000;
  while (Date.now() < deadline) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(printed) ?? [];
    if (address) return address;
    await pause(pollMilliseconds);
  }
  child.kill('SIGKILL');
  throw new Error(`Firefox does not listen within ${startSeconds} s: ${printed}`);
}

/** A tab that a test uses by mouse and keyboard. It finds elements by their text or label. */
export class Tab {
  #connection: BidiConnection;
  #context: string;

  constructor(connection: BidiConnection, context: string) {
    this.#connection = connection;
    this.#context = context;
  }

  async goto(url: string): Promise<void> {
    await this.#connection.send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' });
  }

  /** Clicks the link, button or labelled field whose name is the text or starts with it. */
  async click(name: string): Promise<void> {
    // The timers of a tab in the background wait for a second.
    await this.#connection.send('browsingContext.activate', { context: this.#context });
    const element = await this.#find(name);
    const origin = { type: 'element', element };
    await this.#perform('pointer', [
      { type: 'pointerMove', x: 0, y: 0, origin },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]);
  }

  /** Types into the field with this label. */
  async fill(label: string, text: string): Promise<void> {
    await this.click(label);
    const keys = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await this.#perform('key', keys);
  }

  /** Waits until the page shows the text, and has the path, where one is given. */
  async waitFor(text: string, at?: string): Promise<void> {
    await this.#until(`“${text}” at ${at ?? 'any path'}`, async () => {
      const [shown, pathname] = await this.#call<[string, string]>(
        '() => [document.body.innerText, location.pathname]',
      );
      return shown.includes(text) && (at === undefined || pathname === at);
    });
  }

  async #find(name: string): Promise<{ sharedId: string }> {
    let found: { sharedId?: string } | null = null;
    await this.#until(`a link, button or field named “${name}”`, async () => {
      found = await this.#call(findInPage, name);
      return found?.sharedId !== undefined;
    });
    return { sharedId: (found as { sharedId?: string } | null)?.sharedId ?? '' };
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + waitSeconds * 1000;
    // While a page is being replaced the call fails, and the next page is asked.
    while (!(await holds().catch(() => false))) {
      if (Date.now() > deadline) {
        const shown = await this.#call<string>('() => [location.href, document.body.innerText].join(": ")');
        throw new Error(`Firefox does not show ${what}, but: ${shown}`);
      }
      await pause(pollMilliseconds);
    }
  }

  /** Calls a function in the page. An element comes back as a reference, anything else as its value. */
  async #call<Value>(functionDeclaration: string, argument = ''): Promise<Value> {
    const { result } = await this.#connection.send<{ result: Remote }>('script.callFunction', {
      functionDeclaration,
      arguments: [{ type: 'string', value: argument }],
      target: { context: this.#context },
      awaitPromise: true,
    });
    return plainValue(result) as Value;
  }

  async #perform(type: 'pointer' | 'key', actions: object[]): Promise<void> {
    await this.#connection.send('input.performActions', {
      context: this.#context,
      actions: [{ type, id: type, actions }],
    });
  }
}

type Remote = { type: string; value?: unknown; sharedId?: string };

function plainValue(remote: Remote): unknown {
  if (remote.type === 'node') return { sharedId: remote.sharedId };
  return remote.type === 'array' ? (remote.value as Remote[]).map(plainValue) : (remote.value ?? null);
}

/**
 * Runs in the page. Finds an element only where a click reaches it: after a link the page scrolls to its top once its
 * content is there, and moves the element away.
 */
const findInPage = `async (name) => {
  const named = (element) => (element.labels?.[0]?.innerText ?? element.ariaLabel ?? element.innerText).trim();
  const all = [...document.querySelectorAll('a, button, summary, input:not([type=hidden])')];
  const seen = all.filter((element) => element.checkVisibility() && !element.disabled);
  const found = seen.find((element) => named(element) === name) ?? seen.find((element) => named(element).startsWith(name));
  if (!found) return null;
  found.scrollIntoView({ block: 'center', behavior: 'instant' });
  const placed = () => {
    const { left, top, width, height } = found.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return [found.isConnected, found.contains(hit), left, top].join();
  };
  const before = placed();
  await new Promise((resolve) => setTimeout(resolve, 100));
  return before.startsWith('true,true') && placed() === before ? found : null;
}`;
