import { z } from 'zod';
import { AppError, invalid, isAppError } from '../platform/errors.ts';
import { type Message, readZodMessage } from '../platform/messages.ts';

/**
 * Parses a body by its schema. A handler that could not read the body passes the error in its
 * place, so that authority is checked first.
 *
 * @throws AppError VALIDATION with one sentence per wrong field, or the handler's error.
 */
export function body<Schema extends z.ZodType>(schema: Schema): BodyParser<Schema> {
  function parse(input: unknown): z.output<Schema> {
    if (isAppError(input)) throw input;
    if (isNestedTooDeeply(input)) throw new AppError('VALIDATION', 'This request is nested too deeply.');

    const read = schema.safeParse(input ?? {});
    if (read.success) return read.data;
    const fields: Record<string, Message | string> = {};
    for (const issue of read.error.issues) {
      for (const field of fieldsOf(issue)) {
        fields[field] ??= issue.code === 'unrecognized_keys' ? unknownMember : readZodMessage(issue.message);
      }
    }
    throw invalid(fields);
  }

  return { parse } as BodyParser<Schema>;
}

/** What is said of a member of a body that an endpoint does not know: a misspelt `until` must not be lost. */
export const unknownMember = 'There is no such member.';

/** Returns the fields that an issue is about: a strict schema names all unknown members at once. */
function fieldsOf(issue: z.core.$ZodIssue): string[] {
  const names = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const paths = names.length === 0 ? [issue.path] : names.map((name) => [...issue.path, name]);
  return paths.map((path) => path.join('.') || 'body');
}

/** Parses a body that has a member by one schema, and one without it by another, as `body` does. */
export function bodyWith<With extends z.ZodType, Without extends z.ZodType>(
  member: string,
  withIt: With,
  withoutIt: Without,
): BodyParser<With | Without> {
  const [parserWith, parserWithout] = [body(withIt), body(withoutIt)];

  function parse(input: unknown): z.output<With | Without> {
    const given = (input as Record<string, unknown> | null | undefined)?.[member];
    return (given === undefined ? parserWithout : parserWith).parse(input);
  }

  return { parse } as BodyParser<With | Without>;
}

/** Deeper than any valid body, and far below the depth at which a recursive function fails. */
const maxLevels = 16;

/** Whether objects and lists are nested more than 16 levels deep. Looks no deeper than that. */
function isNestedTooDeeply(value: unknown, levels = maxLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isNestedTooDeeply(inner, levels - 1));
}

/** A parser in the form from which tRPC infers what callers may send. */
type BodyParser<Schema extends z.ZodType> = {
  _input: z.input<Schema>;
  _output: z.output<Schema>;
  parse: (input: unknown) => z.output<Schema>;
};

/** The body of an action without input. A body that is sent must still be readable. */
export const nothing = z.object({}).optional();
