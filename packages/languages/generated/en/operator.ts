// Written by `npm run languages` from the files of the languages.
import accounts from '../../en/operator/accounts.json' with { type: 'json' };
import console from '../../en/operator/console.json' with { type: 'json' };
import eventTypes from '../../en/operator/event-types.json' with { type: 'json' };
import events from '../../en/operator/events.json' with { type: 'json' };
import report from '../../en/operator/report.json' with { type: 'json' };
import requests from '../../en/operator/requests.json' with { type: 'json' };

export default { ...accounts, ...console, ...eventTypes, ...events, ...report, ...requests };
