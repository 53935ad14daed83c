// Written by `npm run languages` from the files of the languages.
import accounts from '../../de/operator/accounts.json' with { type: 'json' };
import console from '../../de/operator/console.json' with { type: 'json' };
import eventTypes from '../../de/operator/event-types.json' with { type: 'json' };
import events from '../../de/operator/events.json' with { type: 'json' };
import report from '../../de/operator/report.json' with { type: 'json' };
import requests from '../../de/operator/requests.json' with { type: 'json' };

export default { ...accounts, ...console, ...eventTypes, ...events, ...report, ...requests };
