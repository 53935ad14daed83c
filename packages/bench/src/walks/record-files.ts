import fs from 'node:fs';
import http from 'node:http';
import { Session } from 'node:inspector';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Loaded into the built service by `--import`. For each request it appends a line to the file of WALKS_FILE: the
 * method, the path, and the source files of which a function ran, by V8's precise coverage. Requests must not overlap.
 */
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Returns the source files of which a function ran since the last call. */
function filesRun(): string[] {
  const files = new Set<string>();
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const { url, functions } of result) {
      if (!url.startsWith('file:') || url.includes('node_modules')) continue;
      const sourceAt = sourcesOf(fileURLToPath(url));
      // The first function of a module is the module itself.
      for (const { ranges, functionName } of functions) {
        const [range] = ranges;
        if (range === undefined || range.count === 0 || (range.startOffset === 0 && functionName === '')) continue;
        const source = sourceAt(range.startOffset);
        if (source !== null) files.add(source);
      }
    }
  });
  return [...files];
}

const sources = new Map<string, (offset: number) => string | null>();

/** Returns a function from an offset in a built file to its source, relative to the repository. */
function sourcesOf(file: string): (offset: number) => string | null {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = fs.readFileSync(file, 'utf8');
  const map = fs.existsSync(`${file}.map`) ? new SourceMap(JSON.parse(fs.readFileSync(`${file}.map`, 'utf8'))) : null;

  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];

  function sourceAt(offset: number): string | null {
    if (map === null) return null;
    const line = lineStarts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - (lineStarts[line] ?? 0));
    // A function of the bundler has no mapping of its own.
    return 'originalSource' in entry && entry.generatedLine === line
      ? sourcePath(path.resolve(path.dirname(file), entry.originalSource))
      : null;
  }
  sources.set(file, sourceAt);
  return sourceAt;
}

function sourcePath(file: string): string | null {
  const relative = path.relative(root, file);
  return /^(apps|packages)\/.*\.ts$/.test(relative) && !relative.includes('node_modules') ? relative : null;
}

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (this: http.Server, ...all: [event: string, ...args: unknown[]]): boolean {
  const [event, ...args] = all;
  if (event === 'request') {
    const [request, response] = args as [http.IncomingMessage, http.ServerResponse];
    session.post('Profiler.takePreciseCoverage');
    response.once('finish', () => {
      const line = { what: `${request.method} ${request.url?.split('?')[0]}`, files: filesRun() };
      setImmediate(() => fs.appendFileSync(process.env.WALKS_FILE ?? '', `${JSON.stringify(line)}\n`));
    });
  }
  return emit.apply(this, all as Parameters<typeof emit>);
} as typeof emit;
