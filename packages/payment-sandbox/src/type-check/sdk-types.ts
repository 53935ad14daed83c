import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The types of the SDK, read from its declarations with the TypeScript compiler. */
export interface SdkTypes {
  checker: ts.TypeChecker;
  /** The types of the objects whose member `object` is this text: `customer` has `Customer` and `DeletedCustomer`. */
  of(object: string): ts.Type[];
  /** The type of the events of one `type`; undefined for a type of event that the SDK does not know. */
  ofEvent(type: string): ts.Type | undefined;
  /** The type that the SDK exports under this name, such as `ApiList` or `WebhookEndpointCreateParams.EnabledEvent`. */
  named(name: string): ts.Type;
}

let types: SdkTypes | undefined;

/** Reads the declarations once per process, in one to three seconds. */
export function sdkTypes(): SdkTypes {
  types ??= readTypes();
  return types;
}

const declarations = fileURLToPath(import.meta.resolve('stripe')).replace(/\.js$/, '.d.ts');

function readTypes(): SdkTypes {
  const options: ts.CompilerOptions = {
    lib: ['lib.es2022.d.ts'],
    types: [],
    strict: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
  };
  const host = ts.createCompilerHost(options);
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const program = ts.createProgram([declarations], options, host);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(declarations);
  const module = file && checker.getSymbolAtLocation(file);
  const root = module && checker.getExportsOfModule(module).find(({ name }) => name === 'Stripe');
  if (root === undefined) throw new Error(`The SDK's types are not in ${declarations}.`);

  const byObject = new Map<string, ts.Type[]>();
  const byEvent = new Map<string, ts.Type>();
  for (const type of typesIn(checker, resolved(checker, root))) {
    const object = literalOf(checker, type, 'object');
    if (object === undefined) continue;
    const event = object === 'event' ? literalOf(checker, type, 'type') : undefined;
    if (event === undefined) byObject.set(object, [...(byObject.get(object) ?? []), type]);
    else byEvent.set(event, type);
  }

  return {
    checker,
    of: (object) => byObject.get(object) ?? [],
    ofEvent: (type) => byEvent.get(type),
    named: (name) => declared(checker, findIn(checker, resolved(checker, root), name.split('.'))),
  };
}

/** Yields every object type that a namespace and its inner namespaces export, except those of version 2 of the API. */
function* typesIn(checker: ts.TypeChecker, namespace: ts.Symbol): Generator<ts.Type> {
  for (const exported of checker.getExportsOfModule(namespace)) {
    const symbol = resolved(checker, exported);
    if (symbol.flags & ts.SymbolFlags.Interface) yield checker.getDeclaredTypeOfSymbol(symbol);
    const isResource = /Params$|Resource$|^V2$|^errors$/.test(exported.name);
    if (symbol.flags & ts.SymbolFlags.Namespace && !isResource && !(symbol.flags & ts.SymbolFlags.Interface)) {
      yield* typesIn(checker, symbol);
    }
  }
}

function findIn(checker: ts.TypeChecker, namespace: ts.Symbol, [name, ...rest]: string[]): ts.Symbol {
  const found = checker.getExportsOfModule(namespace).find((exported) => exported.name === name);
  if (found === undefined) throw new Error(`The SDK exports no ${name}.`);
  const symbol = resolved(checker, found);
  return rest.length === 0 ? symbol : findIn(checker, symbol, rest);
}

function declared(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Type {
  return checker.getDeclaredTypeOfSymbol(symbol);
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Returns the only text that a member allows, or undefined. */
function literalOf(checker: ts.TypeChecker, type: ts.Type, member: string): string | undefined {
  const symbol = type.getProperty(member);
  if (symbol === undefined) return undefined;
  const held = checker.getTypeOfSymbol(symbol);
  return held.isStringLiteral() ? held.value : undefined;
}
