import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createLog } from './log.ts';

function written(format: 'json' | 'pretty', fields: Record<string, unknown>, message = 'message'): string {
  const lines: string[] = [];
  createLog({ level: 'info', format, write: (line) => lines.push(line) }).info(message, fields);
  return lines.join('');
}

it.each(['json', 'pretty'] as const)('writes one line in %s, whatever the values hold', (format) => {
  const line = written(format, { agent: 'a\nb\r\u001b[31m\u2028c' }, 'first\nsecond');
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028]/u);
  expect(line.endsWith('\n')).toBe(true);
});

it.each(['json', 'pretty'] as const)('writes values in %s that JSON has no form for', (format) => {
  const endless: Record<string, unknown> = { name: 'request' };
  endless.self = endless;
  const shared = { id: 1 };
  const line = written(format, { endless, big: 10n, shared: [shared, shared] });
  expect(line).toContain('"self":"[circular]"');
  expect(line).toContain('"10"');
  expect(line).toContain('[{"id":1},{"id":1}]');
});

it('does not write the parameters of a failed query', () => {
  const error = new Error('Failed query: insert into users … params: person@company.example', {
    cause: Object.assign(new Error('duplicate key'), { code: '23505' }),
  });
  const line = written('json', { error });
  expect(line).not.toContain('person@company.example');
  expect(line).toContain('23505');
});

it('writes no entry below its level', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', format: 'json', write: (line) => lines.push(line) });
  log.info('no');
  log.warn('yes');
  expect(lines).toHaveLength(1);
});

it.each([
  ['that ends', "log.info('first'); log.info('last'); process.exit(0)"],
  ['that fails', "log.info('first'); log.info('last'); throw new Error('unexpected')"],
  ['that is killed after a warning', "log.info('first'); log.warn('last'); process.kill(process.pid, 'SIGKILL')"],
])('loses no line of a process %s in the same turn', (_, body) => {
  const file = JSON.stringify(path.join(import.meta.dirname, 'log.ts'));
  const code = `import { createLog } from ${file}; const log = createLog({ level: 'info', format: 'json' }); ${body}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['first', 'last']);
});
