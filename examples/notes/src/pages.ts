import type { Entitlements, Session } from '@gatehouse/client';
import { html } from 'hono/html';
import type { Note } from './store.ts';

type Page = {
  gatehouseUrl: string;
  signOutUrl: string;
  session: Session;
  entitlements: Entitlements;
  notes: Note[];
  /** Why the last note was refused, and the tiers that allow it. */
  refused?: { sentence: string; allowedBy: string[]; text: string };
};

/** The page of an organisation's notes. Texts of users are escaped by `html`. */
export function notesPage({ gatehouseUrl, signOutUrl, session, entitlements, notes, refused }: Page) {
  const { organisation, plan, usage } = entitlements;
  const meter = usage.find(({ meter: each }) => each === 'notes');
  const writes = session.scopes.includes('WRITE');

  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Notes of ${organisation.name ?? organisation.slug}</title>
    <style>${css}</style>
  </head>
  <body>
    <header>
      <strong>Northwind Notes</strong>
      <nav>
        <a href="${gatehouseUrl}/members">Members</a>
        <a href="${gatehouseUrl}/billing">Plan</a>
        <a href="${gatehouseUrl}/account">${session.user.email}</a>
        <a href="${signOutUrl}">Sign out</a>
      </nav>
    </header>
    <main>
      <h1>Notes of ${organisation.name ?? organisation.slug}</h1>
      <p class="soft">${plan.name} plan: ${meter?.used ?? 0} of ${meter?.limit ?? 'unlimited'} notes</p>
      ${
        refused &&
        html`<div class="refused" role="alert">
          <p><strong>${refused.sentence}</strong> ${refused.allowedBy.length > 0 ? 'A higher plan has room for more.' : ''}</p>
          ${refused.allowedBy.length > 0 ? html`<p><a class="button" href="${gatehouseUrl}/billing">See the plans</a></p>` : ''}
        </div>`
      }
      ${
        writes &&
        html`<form method="post" action="/notes">
          <label for="text">New note</label>
          <textarea id="text" name="text" rows="3" required maxlength="2000">${refused?.text ?? ''}</textarea>
          <button>Add note</button>
        </form>`
      }
      ${notes.length === 0 ? html`<p class="soft">No notes yet. Everyone in your organisation sees them here.</p>` : ''}
      <ul>
        ${notes.map(
          ({ id, text, at }) => html`<li>
            <p>${text}</p>
            <div class="soft"><time datetime="${at}">${at.slice(0, 10)}</time>
              ${writes && html`<form method="post" action="/notes/${id}/delete"><button class="plain">Delete</button></form>`}
            </div>
          </li>`,
        )}
      </ul>
    </main>
  </body>
</html>`;
}

const css = `
:root { color-scheme: light dark; --soft: light-dark(#555, #aaa); --line: light-dark(#ddd, #444); --accent: light-dark(#7a3b12, #f0b080); }
* { box-sizing: border-box; }
body { margin: 0; background: canvas; color: canvastext; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 8px 24px; padding: 16px 24px; border-bottom: 1px solid var(--line); }
nav { display: flex; flex-wrap: wrap; gap: 4px 20px; }
main { max-width: 640px; margin: 32px auto; padding: 0 24px; }
a { color: var(--accent); }
h1 { font-size: 28px; line-height: 1.2; margin: 0; }
.soft { color: var(--soft); }
form { display: grid; gap: 8px; margin: 24px 0; }
textarea { font: inherit; padding: 8px 12px; border: 1px solid var(--soft); border-radius: 8px; }
button, .button { font: inherit; justify-self: start; padding: 8px 16px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: light-dark(#fff, #1a1a1a); text-decoration: none; cursor: pointer; }
.plain { border: 0; padding: 4px 0; background: none; color: var(--accent); text-decoration: underline; }
.refused { margin: 24px 0; padding: 4px 20px; border: 1px solid var(--accent); border-radius: 10px; }
ul { list-style: none; padding: 0; }
li { padding: 12px 0; border-top: 1px solid var(--line); }
li p { margin: 0; white-space: pre-wrap; }
li div { display: flex; justify-content: space-between; align-items: center; font-size: 14px; }
li form { margin: 0; }`;
