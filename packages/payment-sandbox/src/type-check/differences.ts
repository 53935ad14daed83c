import ts from 'typescript';
import type { SdkTypes } from './sdk-types.ts';

/** How an object is compared. In `part`, for `previous_attributes`, members may be missing, and null means absent. */
type Extent = 'whole' | 'part';

/**
 * Lists where a JSON value does not match a type, one sentence each: unknown members, missing
 * required members, values of another kind, null that is not allowed, and text that an
 * enumeration does not list. The SDK declares its enumerations open; here only listed values match.
 */
export function differences(
  { checker }: Pick<SdkTypes, 'checker'>,
  type: ts.Type,
  value: unknown,
  path: string,
  extent: Extent = 'whole',
): string[] {
  return compare(type, value, path);

  function compare(wanted: ts.Type, given: unknown, at: string): string[] {
    if (wanted.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return [];
    if (given === null && extent === 'part') return [];
    const choices = choicesOf(wanted);
    if (given !== null && typeof given === 'object') return ofObject(choices, given, at);
    return choices.some((choice) => isPlain(choice, given))
      ? []
      : [`${at}: ${JSON.stringify(given)} is not ${shown(wanted)}`];
  }

  /** Of several object types, the one with the fewest differences counts. */
  function ofObject(choices: ts.Type[], given: object, at: string): string[] {
    const objects = choices.filter((choice) => choice.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection));
    let nearest: string[] | undefined;
    for (const choice of objects) {
      const found = Array.isArray(given) ? ofArray(choice, given, at) : ofMembers(choice, given, at);
      if (found.length === 0) return found;
      if (nearest === undefined || found.length < nearest.length) nearest = found;
    }
    return nearest ?? [`${at}: ${Array.isArray(given) ? 'a list' : 'an object'} is not allowed`];
  }

  function ofArray(wanted: ts.Type, given: unknown[], at: string): string[] {
    if (!checker.isArrayType(wanted)) return [`${at}: a list is not allowed`];
    const [element] = checker.getTypeArguments(wanted as ts.TypeReference);
    return given.flatMap((one, index) => (element ? whole(element, one, `${at}[${index}]`) : []));
  }

  /** `previous_attributes` hold whole lists. */
  function whole(element: ts.Type, given: unknown, at: string): string[] {
    return differences({ checker }, element, given, at);
  }

  function ofMembers(wanted: ts.Type, given: object, at: string): string[] {
    if (checker.isArrayType(wanted) || isDecimal(wanted)) return [`${at}: an object is not allowed`];
    const others = checker.getIndexInfoOfType(wanted, ts.IndexKind.String)?.type;
    const known = new Map(checker.getPropertiesOfType(wanted).map((member) => [member.name, member]));
    const found: string[] = [];
    for (const [name, held] of Object.entries(given)) {
      const member = known.get(name);
      const type = member ? checker.getTypeOfSymbol(member) : others;
      found.push(...(type ? compare(type, held, `${at}.${name}`) : [`${at}.${name}: the type has no such member`]));
    }
    for (const [name, member] of known) {
      const isOptional = extent === 'part' || Boolean(member.flags & ts.SymbolFlags.Optional);
      if (!isOptional && !Object.hasOwn(given, name)) found.push(`${at}.${name}: is missing`);
    }
    return found;
  }

  function isPlain(choice: ts.Type, given: unknown): boolean {
    if (choice.flags & ts.TypeFlags.Null) return given === null;
    if (choice.isStringLiteral() || choice.isNumberLiteral()) return given === choice.value;
    if (choice.flags & ts.TypeFlags.BooleanLiteral) return String(given) === checker.typeToString(choice);
    if (choice.flags & ts.TypeFlags.Boolean) return typeof given === 'boolean';
    if (choice.flags & ts.TypeFlags.Number) return typeof given === 'number';
    if (choice.flags & ts.TypeFlags.String) return typeof given === 'string';
    return isDecimal(choice) && typeof given === 'string' && /^-?\d+(\.\d+)?$/.test(given);
  }

  function shown(wanted: ts.Type): string {
    return checker.typeToString(wanted, undefined, ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope);
  }
}

/** Returns the members of a union, without the open end of an enumeration (`string & Record<never, never>`). */
function choicesOf(type: ts.Type): ts.Type[] {
  if (!type.isUnion()) return [type];
  return type.types.filter((choice) => !isOpenEnd(choice));
}

function isOpenEnd(choice: ts.Type): boolean {
  return choice.isIntersection() && choice.types.some((part) => part.flags & ts.TypeFlags.String);
}

/** Whether a type is the SDK's object for a decimal, which is text in JSON. */
function isDecimal(type: ts.Type): boolean {
  return (type.aliasSymbol ?? type.symbol)?.name.startsWith('Decimal') ?? false;
}
