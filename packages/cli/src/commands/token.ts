/** `flotilla token`: creates a token for clusters that join, and prints the commands that use it. */
import { SINGLE_USE_TOKEN } from "@flotilla/flotilla";
import { KARMADA_TOKENS_GROUP } from "@flotilla/karmada";
import { Secret, BOOTSTRAP_TOKEN_TYPE } from "@flotilla/kubernetes";
import { OCM_TOKENS_GROUP } from "@flotilla/ocm";
import { HUB } from "@flotilla/apimachinery";
import { formatTime, systemRandom, UsageError } from "@flotilla/base";
import { renderKubeconfig } from "@flotilla/client";
import { authorityHash, JOIN_APIS, joinCommands, renderTicket } from "../agent/join-commands.ts";
import type { JoinApi, JoinTicket } from "../agent/join-commands.ts";
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { requireHub } from "../membership/hub-only.ts";

const DAY_MS = 24 * 60 * 60_000;
/** One group per token: it may only request certificates through that API. */
const GROUPS: Readonly<Record<JoinApi, string>> = { karmada: KARMADA_TOKENS_GROUP, ocm: OCM_TOKENS_GROUP };

export const tokenCommand = defineCommand({
  name: "token",
  summary: "create a token for clusters that join, and print the commands that use it",
  details:
    "For clusters that the hub cannot reach: their agents connect to the hub. A token is for one API: a " +
    "cluster that joins through Open Cluster Management's waits until you accept it; one that registers " +
    "through Karmada's needs no acceptance. The hub deletes a token when one cluster has used it, unless " +
    "it is reusable.",
  example: [
    { says: "Create a token for a day, and print the commands that use it.", run: "flotilla token" },
    {
      says: "Create a token with which one cluster registers through Karmada's API.",
      run: "flotilla token --through karmada",
    },
    {
      says: "Create a token for several clusters that is valid for a week.",
      run: "flotilla token create --reusable --days 7",
    },
    {
      says: "Set the address that clusters use, and write a kubeconfig for 'flotilla agent'.",
      run: "flotilla token --hub-apiserver https://hub.example.com:6443 --bootstrap-kubeconfig bootstrap.kubeconfig",
    },
  ],
  args: [{ name: "create", description: "optional, has no effect", required: false, choices: ["create"] }],
  flags: {
    through: {
      type: "string",
      value: "API",
      default: "ocm",
      choices: [...JOIN_APIS],
      description: "the API through which clusters join with the token",
    },
    reusable: { type: "boolean", description: "let several clusters join with the token until it expires" },
    days: {
      type: "integer",
      value: "N",
      default: 1,
      minimum: 1,
      maximum: 365,
      description: "lifetime of the token",
    },
    "hub-apiserver": {
      type: "string",
      value: "URL",
      description: "the hub's address as seen from joining clusters (default: that of the kubeconfig)",
    },
    "bootstrap-kubeconfig": {
      type: "string",
      value: "FILE",
      description: "also write a kubeconfig with the token to this file, for 'flotilla agent'",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connectCluster, environment, writeFile }) {
    if (args[0] !== undefined && args[0] !== "create")
      throw new UsageError(`unknown argument '${args[0]}'; 'flotilla token' creates a token`);
    const through = flags.through === "karmada" ? "karmada" : "ocm";
    if (through === "karmada" && flags["bootstrap-kubeconfig"] !== undefined)
      throw new UsageError(
        "--bootstrap-kubeconfig is for agents that join through Open Cluster Management's API; omit it, or omit --through karmada",
      );
    const hub = await connectCluster(hubKubeconfig(flags, environment), HUB);
    try {
      await requireHub(hub.client, hub.server, signal);
      const [id, secret] = [randomText(6), randomText(16)];
      const data = {
        "token-id": id,
        "token-secret": secret,
        expiration: formatTime(clock.now() + flags.days * DAY_MS),
        "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true",
        "auth-extra-groups": GROUPS[through],
        description: `created by 'flotilla token' for ${flags.reusable ? "clusters that join" : "a cluster that joins"}`,
      };
      await hub.client.create(
        Secret,
        HUB,
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: {
            namespace: "kube-system",
            name: `bootstrap-token-${id}`,
            labels: flags.reusable ? undefined : { [SINGLE_USE_TOKEN]: "true" },
          },
          type: BOOTSTRAP_TOKEN_TYPE,
          stringData: data,
        },
        { signal },
      );
      const ticket: JoinTicket = {
        token: `${id}.${secret}`,
        server: flags["hub-apiserver"] ?? hub.server,
        caHash: authorityHash(hub.ca),
        through,
        reusable: flags.reusable,
      };
      const file = flags["bootstrap-kubeconfig"];
      if (file !== undefined)
        await writeFile(
          file,
          renderKubeconfig({
            name: "hub",
            server: ticket.server,
            // Another address of the hub replaces all of them.
            others: flags["hub-apiserver"] === undefined ? hub.others : undefined,
            ca: hub.ca !== "" ? hub.ca : undefined,
            token: ticket.token,
          }),
        );
      output.result({ ...ticket, commands: joinCommands(ticket, file) }, () =>
        renderTicket(ticket, flags.days, file, output.width),
      );
    } finally {
      await hub.close();
    }
  },
});

/** Uses the characters allowed in bootstrap tokens. Bytes that would bias the distribution are drawn again. */
function randomText(length: number): string {
  const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
  const limit = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < length)
    for (const byte of systemRandom.bytes(length - text.length))
      if (byte < limit) text += ALPHABET[byte % ALPHABET.length];
  return text;
}
