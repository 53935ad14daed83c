import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';

/** A certificate is made anew once it is older than this; it is valid for longer. */
const renewedAfterDays = 20;
const validDays = 30;

/**
 * Returns a certificate for the hosts below a domain, which openssl makes and signs by itself. It is kept in `folder`, so
 * that a browser asks once whether to trust it. Returns null without openssl: Node makes no certificates.
 */
export function certificateFor(domain, folder) {
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const madeAt = fs.existsSync(cert) ? fs.statSync(cert).mtimeMs : 0;
  if (Date.now() - madeAt > renewedAfterDays * 86_400_000) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = `subjectAltName=DNS:${domain},DNS:*.${domain}`;
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const args = ['req', '-x509', ...curve, '-days', String(validDays), '-subj', `/CN=${domain}`, '-addext', names];
    if (spawnSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' }).status !== 0) return null;
    fs.chmodSync(key, 0o600);
  }
  return { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
}

/** Starts a reverse proxy on loopback that ends TLS, and passes requests to the port of their host. */
export function startTlsProxy({ port, certificate, portOf }) {
  const server = https.createServer(certificate, (request, response) => {
    const upstream = portOf[(request.headers.host ?? '').replace(/:\d+$/, '')];
    if (upstream === undefined) return response.writeHead(421).end();

    const headers = {
      ...request.headers,
      'x-forwarded-for': request.socket.remoteAddress,
      'x-forwarded-proto': 'https',
    };
    const target = { host: '127.0.0.1', port: upstream, method: request.method, path: request.url, headers };
    const passed = http.request(target, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
