import { parseArgs } from 'node:util';
import { version } from '@gatehouse/api/platform/config-version';
import { type Command, commands } from './commands.ts';
import { helpOf, programName, usage } from './help.ts';

/** A command with its arguments, or the text of --help and --version. */
export type Call = { command: Command; args: string[] } | { help: string };

/** The arguments are not a valid command line. The message is a sentence about the mistake, then the usage. */
export class UsageError extends Error {
  override name = 'UsageError';

  constructor(sentence: string, usage: string) {
    super(`${sentence}\n${usage}`);
  }
}

/**
 * Parses a command line. Returns the command, and its arguments in the order of its usage: an
 * option that is absent is empty, and one without a value that is present is "yes". With --help
 * anywhere returns the help of the command, or of all without one.
 *
 * @throws UsageError if there is no such command, or if an argument is missing, unknown or superfluous.
 */
export function parseCommandLine(words: string[]): Call {
  if (words[0] === '--version') return { help: version };

  const asksHelp = words.some((word) => word === '--help' || word === '-h') || words[0] === 'help';
  const [name, ...typed] = withNameOfTwoWords(asksHelp ? words.filter((word) => !isHelpWord(word)) : words);
  if (name === undefined) {
    if (asksHelp) return { help: usage() };
    throw new UsageError('Name a command.', usage());
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const group = Object.entries(commands).filter(([each]) => each.startsWith(`${name} `));
    if (asksHelp && group.length > 0) return { help: group.map(([each, its]) => helpOf(each, its)).join('\n\n') };
    throw new UsageError(`There is no command ${name}.`, usage());
  }
  if (asksHelp) return { help: helpOf(name, command) };

  const [problem, ...args] = readArguments(command, typed);
  if (problem !== null)
    throw new UsageError(problem, `${programName()} ${name} ${command.parameters.join(' ')}`.trim());
  return { command, args };
}

const isHelpWord = (word: string) => ['--help', '-h', 'help'].includes(word);

/** Joins "api-key create" to one name. */
function withNameOfTwoWords([first, second, ...rest]: string[]): string[] {
  const name = `${first} ${second}`;
  if (Object.hasOwn(commands, name)) return [name, ...rest];
  return [first, second, ...rest].filter((word) => word !== undefined);
}

const optionOf = (word: string) => /^\[?--([a-z-]+)/.exec(word)?.[1];
const isOptional = (word: string) => word.startsWith('[');
/** An option without a description of a value, such as [--json]. */
const isFlag = (word: string) => /^\[--[a-z-]+\]$/.test(word);

/** Returns the problem, or null and the arguments. */
function readArguments({ parameters }: Command, typed: string[]): [problem: string | null, ...args: string[]] {
  const options = Object.fromEntries(
    parameters.flatMap((word) => {
      const option = optionOf(word);
      return option === undefined
        ? []
        : [[option, { type: isFlag(word) ? ('boolean' as const) : ('string' as const) }]];
    }),
  );
  const { values, positionals, tokens } = parseArgs({
    args: typed,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });

  const unknown = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(options, token.name));
  if (unknown?.kind === 'option') return [`There is no option ${unknown.rawName} here.`];

  const args: string[] = [];
  for (const word of parameters) {
    const option = optionOf(word);
    const value = option === undefined ? positionals.shift() : values[option];
    if (isFlag(word)) {
      if (typeof value === 'string') return [`--${option} takes no value.`];
      args.push(value === true ? 'yes' : '');
      continue;
    }
    if (value === undefined && isOptional(word)) {
      args.push('');
      continue;
    }
    if (typeof value !== 'string' || value.trim() === '') return [`${option ? `--${option}` : word} is missing.`];
    args.push(value);
  }
  if (positionals.length > 0) return [`${positionals.join(' ')} is superfluous.`];
  return [null, ...args];
}
