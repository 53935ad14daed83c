import path from 'node:path';
import { type Command, commands } from './commands.ts';

/** How this program is called: by npm in a checkout, by node in a release, where operator.js is at the top. */
export function programName(): string {
  const program = process.argv[1] ?? '';
  const isRelease = path.basename(program) === 'operator.js' && path.basename(path.dirname(program)) !== 'dist';
  return isRelease ? 'node operator.js' : 'npm run operator --';
}

/** Returns the usage of all commands, a line each. */
export function usage(): string {
  const lines = Object.entries(commands).map(([name, { parameters, summary }]) => [
    [name, ...parameters].join(' '),
    summary,
  ]);
  const width = Math.min(40, Math.max(...lines.map(([call = '']) => call.length)));
  return [
    `${programName()} …`,
    ...lines.map(([call = '', summary]) =>
      call.length <= width ? `  ${call.padEnd(width)}  ${summary}` : `  ${call}\n  ${' '.repeat(width)}  ${summary}`,
    ),
    '',
    `${programName()} COMMAND --help explains one command.`,
  ].join('\n');
}

/** Returns the help of one command: its usage, what it does, and the meaning of each argument and exit code. */
export function helpOf(name: string, { parameters, summary, details = [], failsIf }: Command): string {
  const meanings = parameters.map((word) => [word.replace(/^\[|\]$/g, ''), meaningOf(word)]);
  const width = Math.max(0, ...meanings.map(([word = '']) => word.length));
  return [
    `${programName()} ${[name, ...parameters].join(' ')}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...details,
    ...(meanings.length === 0
      ? []
      : ['', ...meanings.map(([word = '', meaning]) => `  ${word.padEnd(width)}  ${meaning}`)]),
    '',
    `Exit codes: 0 done; 1 failed, with the reason on stderr${failsIf === undefined ? '' : `, or ${failsIf}`}; 2 wrong usage.`,
    'The database is named on stderr: DATABASE_URL, or the embedded one in DATA_DIR.',
  ].join('\n');
}

const meanings: Record<string, string> = {
  EMAIL: 'the address of an account, or its id',
  SLUG: 'the slug of an organisation',
  ID: 'the id of an API key, as api-key list shows it',
  SEARCH: 'a part of the address, name or slug',
  '--reason': 'why; operators can read it later',
  '--name': 'what the key is for',
  '--scope': 'READ (the default) or WRITE',
  '--organisation': 'a key of this organisation alone; without it a key of the deployment',
  '--expires-days': 'after how many days the key expires; without it never',
  '--json': 'prints JSON in place of lines of text',
  '--all': 'all users, in place of one',
  '--with-members': 'also deletes organisations that the person alone owns and that have other members',
};

function meaningOf(word: string): string {
  const [name = ''] = word.replace(/^\[|\]$/g, '').split(' ');
  const meaning = meanings[name];
  if (meaning === undefined) throw new Error(`The help has no meaning of ${name}.`);
  return meaning;
}
