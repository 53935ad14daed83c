import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { ConfigError, parseConfig } from './config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'logo-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

const svg = (attributes: string) => `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" ${attributes}/>`;

it('a path is served by the service, at an address that changes with the picture', () => {
  const first = parseConfig({ SERVICE_LOGO: written('logo.svg', svg('viewBox="0 0 24 24"')) });
  const second = parseConfig({ SERVICE_LOGO: written('logo.svg', svg('viewBox="0 0 32 32"')) });

  expect(first.service.logo).toMatch(/^\/logo\/light\?[\w-]{12}$/);
  expect(first.service.logo).not.toBe(second.service.logo);
  expect(first.logoFiles.light).toMatchObject({ type: 'image/svg+xml' });
  expect(first.logoFiles.dark).toBeNull();
});

it('a web address stays what it is', () => {
  const { service, logoFiles } = parseConfig({
    SERVICE_LOGO: 'https://company.example/logo.svg',
    SERVICE_LOGO_DARK: 'https://company.example/dark.svg',
  });
  expect(service).toMatchObject({
    logo: 'https://company.example/logo.svg',
    logoDark: 'https://company.example/dark.svg',
    isWordmark: false,
  });
  expect(logoFiles).toEqual({ light: null, dark: null });
});

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

test.each([
  ['square.svg', svg('viewBox="0 0 24 24"'), false],
  ['twice.svg', svg('viewBox="0 0 48 24"'), false],
  ['wide.svg', svg("viewBox='0,0,120,24'"), true],
  ['sized.svg', svg('width="120px" height="24px"'), true],
  ['tall.svg', svg('width="24" height="120"'), false],
  ['unsized.svg', svg(''), false],
  ['wide.png', png(240, 48), true],
  ['square.png', png(48, 48), false],
])('%s', (name, content, isWordmark) => {
  expect(parseConfig({ SERVICE_LOGO: written(name, content) }).service.isWordmark).toBe(isWordmark);
});

test.each(['SERVICE_LOGO', 'SERVICE_LOGO_DARK'])('a file of %s that cannot be shown ends the start', (name) => {
  for (const file of [
    path.join(folder, 'missing.svg'),
    written('page.html', '<p>'),
    written('empty.png', ''),
    written('large.png', Buffer.alloc(1_000_001)),
    folder,
  ]) {
    expect(() => parseConfig({ [name]: file }), file).toThrow(ConfigError);
    expect(() => parseConfig({ [name]: file }), file).toThrow(name);
  }
});
