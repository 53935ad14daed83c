/** The stylesheet of all pages, served at /sandbox.css. */
export const stylesheet = `
:root {
  color-scheme: light;
  --paper: oklch(0.979 0.004 106); --panel: oklch(1 0 0); --sunk: oklch(0.955 0.005 106);
  --line: oklch(0.9 0.006 106); --line-strong: oklch(0.6 0.012 200);
  --ink: oklch(0.24 0.018 220); --ink-soft: oklch(0.46 0.017 220);
  --accent: oklch(0.44 0.078 195); --accent-ink: oklch(0.99 0.005 195);
  --good: oklch(0.45 0.105 155); --warn: oklch(0.48 0.105 70); --warn-wash: oklch(0.96 0.045 85);
  --bad: oklch(0.5 0.175 27); --bad-wash: oklch(0.96 0.022 25);
}
@media (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --paper: oklch(0.185 0.01 215); --panel: oklch(0.222 0.011 215); --sunk: oklch(0.275 0.012 215);
    --line: oklch(0.32 0.012 215); --line-strong: oklch(0.58 0.014 215);
    --ink: oklch(0.945 0.006 106); --ink-soft: oklch(0.75 0.012 200);
    --accent: oklch(0.79 0.1 188); --accent-ink: oklch(0.2 0.03 205);
    --good: oklch(0.8 0.13 155); --warn: oklch(0.83 0.12 82); --warn-wash: oklch(0.28 0.04 80);
    --bad: oklch(0.78 0.13 25); --bad-wash: oklch(0.27 0.05 25);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
.sandbox-note { margin: 0; max-width: none; padding: 10px 20px; background: var(--warn-wash); font-size: 14px; text-align: center; }
main { margin: 0 auto; padding: 32px 20px 64px; max-width: 960px; }
.narrow main { max-width: 440px; }
h1 { font-size: 28px; line-height: 1.2; font-weight: 600; letter-spacing: -0.02em; margin: 0 0 8px; }
h2 { font-size: 18px; font-weight: 600; margin: 0 0 12px; }
h3 { font-size: 16px; font-weight: 600; margin: 0 0 8px; }
p { margin: 0 0 12px; max-width: 68ch; }
a { color: var(--accent); text-underline-offset: 3px; }
code { font: 14px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.5 ui-monospace, monospace; margin: 0; }
.soft { color: var(--ink-soft); }
.small { font-size: 14px; }
.price { font-size: 28px; font-weight: 600; letter-spacing: -0.02em; margin: 4px 0 12px; font-variant-numeric: tabular-nums; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 20px; margin: 20px 0; }
.note { padding: 12px 16px; border-radius: 8px; background: var(--warn-wash); margin: 16px 0; }
.wrong { padding: 12px 16px; border-radius: 8px; background: var(--bad-wash); border-left: 4px solid var(--bad); margin: 16px 0; }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
label, legend { display: block; font-weight: 500; margin-bottom: 6px; }
fieldset { border: 0; padding: 0; margin: 0 0 16px; min-width: 0; }
legend { padding: 0; }
form + form, form + p, .actions + form, .scroll + .actions, form + .actions { margin-top: 16px; }
.actions > form { margin: 0; }
.field { margin-bottom: 16px; }
.check { display: flex; gap: 10px; align-items: center; min-height: 40px; padding: 6px 0; line-height: 1.35; font-weight: 400; margin: 0; }
.check input { width: 20px; height: 20px; flex: none; accent-color: var(--accent); margin: 0; }
input:not([type=checkbox], [type=radio]), select { width: 100%; min-height: 44px; padding: 8px 12px; font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line-strong); border-radius: 8px; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 44px; padding: 0 18px; font: inherit; font-weight: 500; border-radius: 8px; border: 1px solid var(--line-strong); background: var(--panel); color: var(--ink); text-decoration: none; cursor: pointer; text-align: center; }
button.primary, .button.primary { background: var(--accent); color: var(--accent-ink); border-color: transparent; }
.narrow button.primary { width: 100%; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; gap: 12px; flex-wrap: wrap; align-items: center; } td select { width: auto; max-width: 100%; }
.people { list-style: none; padding: 0; margin: 0; }
.people button { width: 100%; justify-content: flex-start; text-align: left; min-height: 60px; margin-bottom: 8px; }
.people small { display: block; font-weight: 400; color: var(--ink-soft); }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); gap: 12px 24px; }
.scroll { overflow-x: auto; margin: 20px 0; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
caption { text-align: left; font-weight: 600; padding-bottom: 8px; }
th { text-align: left; font-weight: 500; color: var(--ink-soft); }
th, td { padding: 10px 16px 10px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td form { display: inline; } td button { min-height: 36px; padding: 0 12px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px; margin: 0 0 12px; } dt { color: var(--ink-soft); } dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
iframe { width: 100%; height: 480px; border: 1px solid var(--line); border-radius: 8px; background: #fff; }
.mails { list-style: none; padding: 0; } .mails li { padding: 12px 0; border-bottom: 1px solid var(--line); }
@media (max-width: 560px) { main { padding: 24px 16px 48px; } h1 { font-size: 24px; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 10px; } }
`;
