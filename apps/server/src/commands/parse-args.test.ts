import { describe, expect, it } from 'vitest';
import { commands } from './commands.ts';
import { parseCommandLine, UsageError } from './parse-args.ts';

const wrong: [typed: string, sentence: string, usage: string][] = [
  ['', 'Name a command.', 'npm run operator -- …'],
  ['aprove a@b.example', 'There is no command aprove.', 'npm run operator -- …'],
  ['toString', 'There is no command toString.', 'npm run operator -- …'],
  ['nothing --help', 'There is no command nothing.', 'npm run operator -- …'],
  ['list --json=no', '--json takes no value.', 'npm run operator -- list [--json]'],
  ['approve', 'EMAIL is missing.', 'npm run operator -- approve EMAIL'],
  ['suspend-organisation', 'SLUG is missing.', 'npm run operator -- suspend-organisation SLUG'],
  ['approve a@b.example b@b.example', 'b@b.example is superfluous.', 'npm run operator -- approve EMAIL'],
  ['list extra', 'extra is superfluous.', 'npm run operator -- list [--json]'],
  ['revoke a@b.example --force', 'There is no option --force here.', 'npm run operator -- revoke EMAIL'],
  ['revoke -f a@b.example', 'There is no option -f here.', 'npm run operator -- revoke EMAIL'],
  ['doctor --fix=all', 'There is no option --fix here.', 'npm run operator -- doctor [--json]'],
  [
    'decline a@b.example --raison x',
    'There is no option --raison here.',
    'npm run operator -- decline EMAIL --reason "…"',
  ],
  ['decline a@b.example', '--reason is missing.', 'npm run operator -- decline EMAIL --reason "…"'],
  ['decline a@b.example --reason', '--reason is missing.', 'npm run operator -- decline EMAIL --reason "…"'],
  ['decline a@b.example --reason=', '--reason is missing.', 'npm run operator -- decline EMAIL --reason "…"'],
  ['decline --reason x', 'EMAIL is missing.', 'npm run operator -- decline EMAIL --reason "…"'],
];

function argsOf(typed: string[]): string[] {
  const call = parseCommandLine(typed);
  return 'help' in call ? [call.help] : call.args;
}

describe('parsing a command line', () => {
  it.each(wrong)('"%s" fails with the sentence: %s', (typed, sentence, usage) => {
    let thrown: unknown;
    try {
      parseCommandLine(typed === '' ? [] : typed.split(' '));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(UsageError);
    const [first, second] = (thrown as UsageError).message.split('\n');
    expect([first, second]).toEqual([sentence, usage]);
  });

  it.each(Object.keys(commands))('%s accepts exactly the arguments of its usage', (name) => {
    const { parameters = [] } = commands[name] ?? {};
    const option = (word: string) => /--[a-z-]+/.exec(word)?.[0];
    const isFlag = (word: string) => /^\[--[a-z-]+\]$/.test(word);
    const typed = [
      ...name.split(' '),
      ...parameters.flatMap((word) => [option(word) ?? [], isFlag(word) ? [] : 'x'].flat()),
    ];

    expect(argsOf(typed)).toEqual(parameters.map((word) => (isFlag(word) ? 'yes' : 'x')));
    expect(() => parseCommandLine([...typed, 'extra'])).toThrow('extra is superfluous.');
  });
});

it('an option in square brackets may be absent, and is refused without a value', () => {
  expect(argsOf(['api-key', 'create', '--name', 'Larch'])).toEqual(['Larch', '', '', '']);
  expect(argsOf(['api-key', 'create', '--expires-days=7', '--name', 'Larch'])).toEqual(['Larch', '', '', '7']);
  expect(() => parseCommandLine(['api-key', 'create'])).toThrow('--name is missing.');
  expect(() => parseCommandLine(['api-key', 'create', '--name', 'a', '--scope'])).toThrow('--scope is missing.');
  expect(() => parseCommandLine(['api-key'])).toThrow('There is no command api-key.');
  expect(() => parseCommandLine(['api-key', 'revoke'])).toThrow('ID is missing.');
});

it('an option may be before or after the other arguments', () => {
  expect(argsOf(['decline', '--reason', 'no room', 'a@b.example'])).toEqual(['a@b.example', 'no room']);
  expect(argsOf(['decline', 'a@b.example', '--reason=no room'])).toEqual(['a@b.example', 'no room']);
});

it.each(Object.keys(commands))('the help of %s has its usage and a meaning of each argument', (name) => {
  const { parameters = [] } = commands[name] ?? {};
  for (const asked of [
    [...name.split(' '), '--help'],
    ['help', ...name.split(' ')],
  ]) {
    const [help = ''] = argsOf(asked);
    expect(help.split('\n')[0]).toBe(['npm run operator --', name, ...parameters].join(' '));
    for (const word of parameters) expect(help).toContain(`\n  ${word.replace(/^\[|\]$/g, '')}`);
  }
});

it('the help of the first word of several commands is the help of each', () => {
  const [help = ''] = argsOf(['api-key', '--help']);
  for (const name of ['api-key create', 'api-key list', 'api-key revoke']) {
    expect(help).toContain(`npm run operator -- ${name}`);
  }
});

it.each([['--help'], ['-h'], ['help']])('%s prints the usage of all commands', (word) => {
  const [help] = argsOf([word]);
  for (const name of Object.keys(commands)) expect(help).toContain(`\n  ${name}`);
});
