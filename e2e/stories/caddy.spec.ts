import { documentedSite, hasCaddy, startCaddy } from '../support/servers/caddy.ts';
import { testProxy } from '../support/servers/guarded.ts';
import { test } from '../support/service.ts';

test.skip(!hasCaddy, 'There is no Caddy on this machine.');

testProxy('Caddy', (at) => startCaddy(at.port, documentedSite(at)));
