import { placeholdersOf } from './placeholders.ts';
import { type LanguageFiles, type Texts, textsOf } from './read-files.ts';

const head = '// Written by `npm run languages` from the files of the languages.\n';

/**
 * Returns the modules of `generated/` by their path: a module for each folder of a language, which a page loads as a
 * whole; the two ways to load them; and the type of all texts.
 */
export function generate(languages: LanguageFiles[]): Map<string, string> {
  const modules = new Map<string, string>();
  for (const { code, files } of languages) {
    for (const area of areasOf(files)) modules.set(`${code}/${area}.ts`, moduleOf(code, area, [...files.keys()]));
  }
  modules.set('languages.ts', head + aboutOf(languages));
  modules.set('every-language.ts', head + everyLanguage(languages));
  modules.set('on-demand.ts', head + onDemand(languages));
  modules.set('texts.ts', head + typeOf(languages));
  return modules;
}

/** The folders that no page needs in a browser: errors, which the server writes, and mails. */
const ofServer = ['api', 'mail'];

/** The folders of a language, each of which a page loads as a whole. */
function areasOf(files: LanguageFiles['files']): string[] {
  return [...new Set([...files.keys()].map((file) => file.slice(0, file.indexOf('/'))))];
}

function moduleOf(code: string, area: string, all: string[]): string {
  const files = all.filter((file) => file.startsWith(`${area}/`));
  const names = files.map((file) => camelCase(file.slice(area.length + 1, -'.json'.length)));
  const imports = files.map((file, at) => `import ${names[at]} from '../../${code}/${file}' with { type: 'json' };`);
  return `${head}${imports.join('\n')}\n\nexport default { ${names.map((name) => `...${name}`).join(', ')} };\n`;
}

function aboutOf(languages: LanguageFiles[]): string {
  const lines = languages.map(({ code, about: { name, locale } }) => `  ${code}: ${literal({ name, locale })},\n`);
  return (
    "\n/** Each language's name in itself, and the locale by which its dates, numbers and lists are written. */\n" +
    `export const languages = {\n${lines.join('')}} as const;\n\nexport type Language = keyof typeof languages;\n`
  );
}

function everyLanguage(languages: LanguageFiles[]): string {
  const named = (code: string, area: string) => camelCase(`${code}-${area}`);
  const imports = languages.flatMap(({ code, files }) =>
    areasOf(files).map((area) => `import ${named(code, area)} from './${code}/${area}.ts';\n`),
  );
  const lines = languages.map(
    ({ code, files }) =>
      `  ${code}: { ${areasOf(files)
        .map((area) => `...${named(code, area)}`)
        .join(', ')} },\n`,
  );
  return `${imports.join('')}\n/** All texts, for the server. */\nexport const everyLanguage = {\n${lines.join('')}};\n`;
}

function onDemand(languages: LanguageFiles[]): string {
  const lines = languages.map(({ code, files }) => {
    const ofPages = areasOf(files).filter((area) => !ofServer.includes(area));
    const areas = ofPages.map((area) => `    ${property(area)}: () => import('./${code}/${area}.ts'),\n`);
    return `  ${code}: {\n${areas.join('')}  },\n`;
  });
  return `\n/** The texts of a folder, for the browser. */\nexport const onDemand = {\n${lines.join('')}};\n`;
}

/** The type of all texts: those of English, each with the placeholders that it has in any language. */
function typeOf(languages: LanguageFiles[]): string {
  const placeholders = new Map<string, Map<string, { plural: boolean }>>();
  for (const { files } of languages) {
    for (const texts of files.values()) {
      for (const [key, text] of textsOf(texts)) {
        const all = placeholders.get(key) ?? new Map();
        for (const [name, kind] of placeholdersOf(text)) {
          all.set(name, { plural: kind.plural || all.get(name)?.plural === true });
        }
        placeholders.set(key, all);
      }
    }
  }
  const groups = [...(languages[0]?.files.values() ?? [])].flatMap((texts) => Object.entries(texts));
  const lines = groups.map(([group, texts]) => fieldOf(group, texts, group, '  '));
  const message = lines.some((line) => line.includes('Message<'));
  return `${message ? "import type { Message } from '../src/messages.ts';\n" : ''}\nexport interface Texts {\n${lines.join('')}}\n`;

  function fieldOf(name: string, text: string | Texts, key: string, indent: string): string {
    if (typeof text === 'string') return `${indent}${property(name)}: ${messageType(placeholders.get(key))};\n`;
    const inner = Object.entries(text).map(([each, of]) => fieldOf(each, of, `${key}.${each}`, `${indent}  `));
    return `${indent}${property(name)}: {\n${inner.join('')}${indent}};\n`;
  }
}

function messageType(placeholders: ReadonlyMap<string, { plural: boolean }> = new Map()): string {
  if (placeholders.size === 0) return 'string';
  const union = (plural: boolean) =>
    [...placeholders]
      .filter(([, kind]) => kind.plural === plural)
      .map(([name]) => `'${name}'`)
      .join(' | ');
  return union(true) === '' ? `Message<${union(false)}>` : `Message<${union(false) || 'never'}, ${union(true)}>`;
}

function property(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
}

function literal(about: Record<string, string>): string {
  return `{ ${Object.entries(about)
    .map(([name, value]) => `${name}: '${value}'`)
    .join(', ')} }`;
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
