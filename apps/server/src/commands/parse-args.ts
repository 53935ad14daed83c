import { parseArgs } from 'node:util';
import { type Command, commands, usage } from './commands.ts';

export type Call = { command: Command; args: string[] };

/** The arguments are not a valid command line. The message is a sentence about the mistake, then the usage. */
export class WrongUse extends Error {
  override name = 'WrongUse';

  constructor(sentence: string, usage: string) {
    super(`${sentence}\n${usage}`);
  }
}

/**
 * Parses a command line. Returns the command, and its arguments in the order of its usage.
 *
 * @throws WrongUse if there is no such command, or if an argument is missing, unknown or superfluous.
 */
export function parseCommandLine(words: string[]): Call {
  const [name, ...typed] = withNameOfTwoWords(words);
  if (name === undefined) throw new WrongUse('Name a command.', usage());
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new WrongUse(`There is no command ${name}.`, usage());

  const [problem, ...args] = readArguments(command, typed);
  if (problem !== null) throw new WrongUse(problem, `npm run operator -- ${name} ${command.takes.join(' ')}`.trim());
  return { command, args };
}

/** Joins "api-key create" to one name. */
function withNameOfTwoWords([first, second, ...rest]: string[]): string[] {
  const name = `${first} ${second}`;
  if (Object.hasOwn(commands, name)) return [name, ...rest];
  return [first, second, ...rest].filter((word) => word !== undefined);
}

const optionOf = (word: string) => /^\[?--([a-z-]+)/.exec(word)?.[1];
const isOptional = (word: string) => word.startsWith('[');

/** Returns the problem, or null and the arguments. */
function readArguments({ takes }: Command, typed: string[]): [problem: string | null, ...args: string[]] {
  const options = Object.fromEntries(
    takes.flatMap((word) => optionOf(word) ?? []).map((option) => [option, { type: 'string' as const }]),
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
  for (const word of takes) {
    const option = optionOf(word);
    const value = option === undefined ? positionals.shift() : values[option];
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
