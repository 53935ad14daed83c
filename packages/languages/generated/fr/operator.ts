// Written by `npm run languages` from the files of the languages.
import accounts from '../../fr/operator/accounts.json' with { type: 'json' };
import console from '../../fr/operator/console.json' with { type: 'json' };
import eventTypes from '../../fr/operator/event-types.json' with { type: 'json' };
import events from '../../fr/operator/events.json' with { type: 'json' };
import report from '../../fr/operator/report.json' with { type: 'json' };
import requests from '../../fr/operator/requests.json' with { type: 'json' };

export default { ...accounts, ...console, ...eventTypes, ...events, ...report, ...requests };
