import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from './program.ts';

/** Parses what is typed without running a command. Returns the texts that are printed and the error's exit code. */
async function parse(typed: string[]): Promise<{ out: string; err: string; exitCode: number; ran: boolean }> {
  const result = { out: '', err: '', exitCode: 0, ran: false };
  const program = createProgram(async () => {
    result.ran = true;
  });
  for (const command of [program, ...commandsOf(program)]) {
    command.configureOutput({
      writeOut: (text) => {
        result.out += text;
      },
      writeErr: (text) => {
        result.err += text;
      },
    });
  }
  await program.parseAsync(typed, { from: 'user' }).catch((error: CommanderError) => {
    expect(error).toBeInstanceOf(CommanderError);
    result.exitCode = error.exitCode;
  });
  return result;
}

function commandsOf(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...commandsOf(child)]);
}

/** The words of each command: "grant", "api-key create". */
const names = createProgram(async () => {}).commands.flatMap((command) =>
  command.commands.length === 0 ? [[command.name()]] : command.commands.map((child) => [command.name(), child.name()]),
);

const wrong: [typed: string, sentence: RegExp][] = [
  ['aprove a@b.example', /^Unknown command 'aprove'\s+\(Did you mean approve\?\)\n/],
  ['toString', /^Unknown command 'toString'\.\n/],
  ['approve', /^Missing required argument 'EMAIL'\.\n/],
  ['suspend-organisation', /^Missing required argument 'SLUG'\.\n/],
  ['approve a@b.example b@b.example', /^Too many arguments for 'approve'\. Expected 1 argument but got 2.*\.\n/],
  ['list extra', /^Too many arguments for 'list'\./],
  ['list --json=no', /^Unknown option '--json=no'/],
  ['revoke a@b.example --force', /^Unknown option '--force'\.\n/],
  ['revoke -f a@b.example', /^Unknown option '-f'\.\n/],
  ['doctor --fix=all', /^Unknown option '--fix=all'\.\n/],
  ['decline a@b.example --raison x', /^Required option '--reason <TEXT>' not specified\.\n/],
  ['decline a@b.example', /^Required option '--reason <TEXT>' not specified\.\n/],
  ['decline a@b.example --reason', /^Option '--reason <TEXT>' argument missing\.\n/],
  ['decline a@b.example --reason=', /^Option '--reason <TEXT>' argument '' is invalid\. It must not be blank\.\n/],
  ['decline --reason x', /^Missing required argument 'EMAIL'\.\n/],
  ['api-key create', /^Required option '--name <NAME>' not specified\.\n/],
  ['api-key revoke', /^Missing required argument 'ID'\.\n/],
  ['api-key rotate', /^Unknown command 'rotate'/],
];

describe('the command line', () => {
  it.each(wrong)('"%s" runs nothing and prints a sentence', async (typed, sentence) => {
    const { err, out, exitCode, ran } = await parse(typed.split(' '));
    expect([ran, exitCode, out]).toEqual([false, 1, '']);
    expect(err).toMatch(sentence);
    expect(err).toContain('Add --help to see the usage.');
  });

  it.each([[[]], [['api-key']]])('%j names no command: the usage is printed on stderr', async (typed) => {
    const { err, exitCode, ran } = await parse(typed);
    expect([ran, exitCode]).toEqual([false, 1]);
    expect(err).toMatch(/^Usage: npm run operator -- /);
  });

  it('an option may be before or after the other arguments', async () => {
    for (const typed of [
      ['decline', '--reason', 'no room', 'a@b.example'],
      ['decline', 'a@b.example', '--reason=no room'],
    ]) {
      expect(await parse(typed)).toEqual({ out: '', err: '', exitCode: 0, ran: true });
    }
  });

  it.each(names)('the help of %s %s has its usage and a meaning of each argument', async (...words) => {
    const name = words.filter((word) => word !== undefined);
    for (const asked of name.length === 1
      ? [
          [...name, '--help'],
          ['help', ...name],
        ]
      : [[...name, '--help']]) {
      const { out, exitCode, ran } = await parse(asked);
      expect([ran, exitCode]).toEqual([false, 0]);
      expect(out).toMatch(new RegExp(`^Usage: npm run operator -- ${name.join(' ')}`));
    }
  });

  it('every command, argument and option is described', () => {
    for (const command of commandsOf(createProgram(async () => {}))) {
      for (const described of [command, ...command.registeredArguments, ...command.options]) {
        expect(typeof described.description === 'function' ? described.description() : described.description).not.toBe(
          '',
        );
      }
    }
  });

  it.each([['--help'], ['-h'], ['help']])('%s prints all commands', async (word) => {
    const { out, exitCode } = await parse([word]);
    expect(exitCode).toBe(0);
    for (const [name] of names) expect(out).toContain(`\n  ${name}`);
    expect(out).toContain('Exit codes: 0 done; 1 failed');
  });
});
