import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds a folder for each language. */
export const folder = fileURLToPath(new URL('..', import.meta.url));

/** Texts as a language's file holds them. */
export type Texts = { [name: string]: string | Texts };

export type LanguageFiles = {
  /** Such as 'en'. */
  code: string;
  /** Its name in itself, and the locale by which dates and numbers are written. */
  about: { name: string; locale: string };
  /** By path within the language's folder, such as 'sign-in/sign-in.json', in the order of their names. */
  files: Map<string, Texts>;
};

/** Reads all languages: each folder with a `language.json`. English, which decides which texts there are, is the first. */
export function readLanguageFiles(): LanguageFiles[] {
  const codes = fs.readdirSync(folder).filter((name) => fs.existsSync(path.join(folder, name, 'language.json')));
  return codes.sort((one, other) => Number(other === 'en') - Number(one === 'en')).map(readLanguage);
}

function readLanguage(code: string): LanguageFiles {
  const read = (file: string) => JSON.parse(fs.readFileSync(path.join(folder, code, file), 'utf8'));
  const files = fs
    .readdirSync(path.join(folder, code), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => file.endsWith('.json') && file !== 'language.json')
    .sort();
  return { code, about: read('language.json'), files: new Map(files.map((file) => [file, read(file)])) };
}

/** The texts of a file by their path, such as 'signIn.title'. */
export function textsOf(texts: Texts, before = ''): [key: string, text: string][] {
  return Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'string' ? [[`${before}${name}`, text] as [string, string]] : textsOf(text, `${before}${name}.`),
  );
}
