// Written by `npm run languages` from the files of the languages.
import apiDocs from '../../en/sign-in/api-docs.json' with { type: 'json' };
import invitation from '../../en/sign-in/invitation.json' with { type: 'json' };
import link from '../../en/sign-in/link.json' with { type: 'json' };
import signIn from '../../en/sign-in/sign-in.json' with { type: 'json' };
import signOut from '../../en/sign-in/sign-out.json' with { type: 'json' };
import signUp from '../../en/sign-in/sign-up.json' with { type: 'json' };
import verify from '../../en/sign-in/verify.json' with { type: 'json' };
import waiting from '../../en/sign-in/waiting.json' with { type: 'json' };

export default { ...apiDocs, ...invitation, ...link, ...signIn, ...signOut, ...signUp, ...verify, ...waiting };
