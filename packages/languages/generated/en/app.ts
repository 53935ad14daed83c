// Written by `npm run languages` from the files of the languages.
import account from '../../en/app/account.json' with { type: 'json' };
import activity from '../../en/app/activity.json' with { type: 'json' };
import audit from '../../en/app/audit.json' with { type: 'json' };
import billing from '../../en/app/billing.json' with { type: 'json' };
import home from '../../en/app/home.json' with { type: 'json' };
import invoices from '../../en/app/invoices.json' with { type: 'json' };
import keys from '../../en/app/keys.json' with { type: 'json' };
import members from '../../en/app/members.json' with { type: 'json' };
import organisation from '../../en/app/organisation.json' with { type: 'json' };
import overview from '../../en/app/overview.json' with { type: 'json' };
import plan from '../../en/app/plan.json' with { type: 'json' };

export default { ...account, ...activity, ...audit, ...billing, ...home, ...invoices, ...keys, ...members, ...organisation, ...overview, ...plan };
