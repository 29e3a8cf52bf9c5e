/** `flotilla keys`: the keys that all API servers of a hub share, in a folder. */
import { join } from "node:path";
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import type { HubKeySummary } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import { renderTable } from "../text-table.ts";

const ACTIONS = ["show", "create", "prepare", "activate", "retire", "kubeconfig"] as const;

/** What to do after a step. */
const NEXT: Record<Exclude<(typeof ACTIONS)[number], "kubeconfig">, string> = {
  show: "",
  create: "Give every API server of the hub a copy of this folder: as DIR/pki, or anywhere with --keys.",
  prepare:
    "The new keys are accepted and do not sign yet. Copy the folder to all API servers, restart them one " +
    "after the other, and give clients the kubeconfigs that they write. Then run 'flotilla keys activate'.",
  activate:
    "The new keys sign, the old ones are still accepted. Copy the folder to all API servers and restart " +
    "them one after the other. When agents and clients have credentials of the new keys, run 'flotilla " +
    "keys retire'.",
  retire:
    "The old keys are removed. Copy the folder to all API servers and restart them one after the other: what the old keys signed is then rejected.",
};

export const keysCommand = defineCommand({
  name: "keys",
  summary: "create, show or replace the keys that the API servers of a hub share",
  details:
    "All API servers of a hub need the same certificate authorities, service account key and " +
    "administrators' secret. The first server creates them in DIR/pki; the others get a copy of that " +
    "folder. An API server with other keys refuses to start on a store that has a hub. 'create' makes the " +
    "keys of a new hub, for example for a Secret of Kubernetes. 'prepare', 'activate' and 'retire' replace " +
    "all keys in three steps: after each, copy the folder to all API servers and restart them one after " +
    "the other. Every server then always accepts what another one signs. Fingerprints are shown, never " +
    "keys. 'kubeconfig' prints a kubeconfig of the controllers or of an administrator, with a new " +
    "certificate that is valid for a year.",
  example: [
    { says: "Show which keys a hub uses.", run: "flotilla keys show --data ./hub" },
    { says: "Make the keys of a new hub.", run: "flotilla keys create --keys ./hub-keys" },
    { says: "Begin to replace the keys of a hub.", run: "flotilla keys prepare --data ./hub" },
    {
      says: "Make a kubeconfig for controllers that run elsewhere.",
      run: "flotilla keys kubeconfig --keys ./hub-keys --server https://hub.example.com:6443",
    },
  ],
  args: [{ name: "ACTION", description: ACTIONS.join(", "), required: true, choices: ACTIONS }],
  flags: {
    data: { type: "string", value: "DIR", description: "data directory of an API server (default ~/.flotilla)" },
    keys: { type: "string", value: "DIR", description: "folder with the keys (default: the folder pki of --data)" },
    server: { type: "string", value: "URL", description: "kubeconfig: address of the API servers" },
    user: {
      type: "string",
      choices: ["controllers", "admin"],
      default: "controllers",
      description: "kubeconfig: whose certificate it has",
    },
  },
  async run({ args: [given = ""], flags, output, environment, keys }) {
    const action = ACTIONS.find((each) => each === given);
    if (!action) throw new UsageError(`unknown action '${given}': use ${ACTIONS.join(", ")}`);
    const folder = flags.keys ?? join(flags.data ?? defaultDataDirectory(environment), "pki");
    if (action === "kubeconfig") {
      if (!URL.canParse(flags.server ?? ""))
        throw new UsageError("--server URL is required, such as https://hub.example.com:6443");
      const kubeconfig = await keys.kubeconfig(
        folder,
        flags.server ?? "",
        flags.user === "admin" ? "admin" : "controllers",
      );
      output.result({ kubeconfig }, () => kubeconfig.trimEnd());
      return;
    }
    const summary =
      action === "show" || action === "create" ? await keys[action](folder) : await keys.rotate(folder, action);
    output.result({ action, folder, keys: summary.map((each) => ({ ...each, accepts: [...each.accepts] })) }, () =>
      [renderKeys(summary), ...(NEXT[action] === "" ? [] : ["", output.called(NEXT[action])])].join("\n"),
    );
  },
});

/** Pure. */
function renderKeys(keys: readonly HubKeySummary[]): string {
  return renderTable(
    ["PURPOSE", "SIGNS", "ALSO ACCEPTED"],
    keys.map(({ purpose, signs, accepts }) => [
      purpose,
      signs,
      accepts.filter((each) => each !== signs).join(" ") || "-",
    ]),
  );
}
