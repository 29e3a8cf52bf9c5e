/** What `flotilla keys` does with a folder of keys. */
import { HUB } from "@flotilla/apimachinery";
import { silentLog, systemClock } from "@flotilla/base";
import type { HubKeyFiles } from "@flotilla/cli";
import { renderKubeconfig } from "@flotilla/client";
import { FLOTILLA_GROUP } from "@flotilla/flotilla";
import { CLIENT_SUBJECTS } from "./client-subjects.ts";
import { createHubKeys, hasHubKeys, KeysError, openHubKeys } from "./hub-keys.ts";
import { rotateKeys } from "./rotate-keys.ts";

const deps = { clock: systemClock, log: silentLog };

export const keyFiles: HubKeyFiles = {
  async show(directory) {
    if (!(await hasHubKeys(directory)))
      throw new KeysError(`${directory} has no keys of a hub; 'flotilla keys create' makes new ones`);
    const fingerprints = await (await openHubKeys({ directory, mayWrite: false, ...deps })).fingerprints();
    return Object.entries(fingerprints).map(([purpose, use]) => ({ purpose, ...use }));
  },
  async create(directory) {
    await createHubKeys(directory, deps);
    return keyFiles.show(directory);
  },
  async kubeconfig(directory, server, user) {
    const { authority, trusted: ca } = await openHubKeys({ directory, mayWrite: false, ...deps });
    const { certificate: cert, key } = await authority.issueClient(CLIENT_SUBJECTS[user]);
    return renderKubeconfig({ name: user === "admin" ? HUB : FLOTILLA_GROUP, server, ca, cert, key });
  },
  async rotate(directory, step) {
    // Reads all of them first: a step on a folder that is not complete would leave keys that do not belong together.
    await keyFiles.show(directory);
    await rotateKeys(directory, step, systemClock);
    return keyFiles.show(directory);
  },
};
