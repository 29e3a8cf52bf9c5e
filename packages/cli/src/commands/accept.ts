/** `flotilla accept`: accepts clusters that asked to join, as `clusteradm accept` does. */
import { CertificateSigningRequest } from "@flotilla/kubernetes";
import { Cluster } from "@flotilla/karmada";
import { CLUSTER_NAME_LABEL, ManagedCluster } from "@flotilla/ocm";
import { HUB, isConditionTrue } from "@flotilla/apimachinery";
import { FlotillaError, formatTime, sleep } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { describeRefusal, planAccept } from "../agent/accept-plan.ts";
import { defineCommand } from "../command.ts";
import type { Output } from "../output.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const POLL_MS = 500;

export const acceptCommand = defineCommand({
  name: "accept",
  summary: "accept clusters that asked to join with an agent",
  details:
    "Approves their certificate requests and sets hubAcceptsClient, as clusteradm accept does. Requests from " +
    "users that did not authenticate with a token for new clusters are not approved.",
  example: [
    { says: "Accept a cluster that has asked to join, or asks within a minute.", run: "flotilla accept paris" },
    {
      says: "Accept two clusters, and wait up to two minutes for their requests.",
      run: "flotilla accept paris oslo --wait 120",
    },
  ],
  args: [{ name: "NAME", description: "the clusters", required: true, completes: "cluster", repeated: true }],
  flags: {
    wait: {
      type: "integer",
      value: "SECONDS",
      default: 60,
      maximum: 86_400,
      description: "how long to wait for a cluster that has not asked yet, and for it to join; 0 does not wait",
    },
    "skip-approve-check": {
      type: "boolean",
      description: "approve requests from any user, not only from users with a token for new clusters",
    },
    requesters: { type: "string", value: "A,B", description: "approve only requests from these users" },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const hub = await connect(hubKubeconfig(flags, environment));
    const requesters = (flags.requesters ?? "").split(",").filter((name) => name !== "");
    try {
      const accepted: Json[] = [];
      const failed: FlotillaError[] = [];
      for (const name of new Set(args)) {
        output.progress(`accepting ${name}`);
        try {
          accepted.push(
            await accept(
              hub.client,
              name,
              { requesters, skipsCheck: flags["skip-approve-check"], untilMs: clock.now() + flags.wait * 1000 },
              clock,
              output,
              signal,
            ),
          );
        } catch (error) {
          // A failure of one cluster does not stop the others.
          if (!isAboutOne(error)) throw error;
          failed.push(error);
        }
      }
      output.progress("");
      if (output.format !== "table") output.result(accepted, () => "");
      const [first, ...others] = failed;
      if (first)
        throw others.length === 0
          ? first
          : new FlotillaError("NotAccepted", failed.map(({ message }) => message).join("; "));
    } finally {
      await hub.close();
    }
  },
});

/** The hub responded, and the error concerns only this cluster. */
const isAboutOne = (error: unknown): error is FlotillaError =>
  error instanceof FlotillaError && (error.code === "NotAccepted" || error.code === "NameTaken");

interface Acceptance {
  requesters: readonly string[];
  skipsCheck: boolean;
  untilMs: number;
}

async function accept(
  client: Client,
  name: string,
  { untilMs, ...trust }: Acceptance,
  clock: Clock,
  { say, progress }: Pick<Output, "say" | "progress">,
  signal: AbortSignal,
): Promise<Json> {
  const face = await find(client, Cluster, { cluster: HUB, name }, { signal });
  if (face?.spec.syncMode === "Push")
    throw new FlotillaError(
      "NameTaken",
      `the hub connects to ${name} directly and no agent serves it; a request under this name is from another ` +
        `cluster; delete it with 'kubectl delete csr -l ${CLUSTER_NAME_LABEL}=${name}'`,
    );
  const approved: string[] = [];
  let said: string | undefined;
  for (;;) {
    const { items } = await client.list(CertificateSigningRequest, {
      cluster: HUB,
      labelSelector: `${CLUSTER_NAME_LABEL}=${name}`,
      signal,
    });
    const { approve, suspicious, refused } = planAccept(name, items, trust);
    for (const { metadata, status } of approve) {
      const conditions = [
        ...(status?.conditions ?? []),
        {
          type: "Approved",
          status: "True",
          reason: "FlotillaAccept",
          message: "Approved by 'flotilla accept'",
          lastUpdateTime: formatTime(clock.now()),
        },
      ];
      await client.patch(
        CertificateSigningRequest,
        { cluster: HUB, name: metadata.name },
        { metadata: { resourceVersion: metadata.resourceVersion ?? null }, status: { conditions } },
        { type: "merge", subresource: "approval", signal },
      );
      approved.push(metadata.name);
      say(`CSR ${metadata.name} approved`);
    }
    const cluster = await find(client, ManagedCluster, { cluster: HUB, name }, { signal });
    if (cluster && !cluster.spec.hubAcceptsClient) {
      await client.patch(
        ManagedCluster,
        { cluster: HUB, name },
        { spec: { hubAcceptsClient: true } },
        { type: "merge", signal },
      );
      say(`set hubAcceptsClient to true for managed cluster ${name}`);
    }
    if (suspicious.length > 0 && approve.length === 0 && approved.length === 0) {
      const who = [...new Set(suspicious.map(({ spec }) => spec.username ?? ""))].join(", ");
      throw new FlotillaError(
        "NotAccepted",
        `${name} was requested by ${who}, which is not a user for new clusters; if you trust this user, accept ` +
          `with --requesters ${who} or --skip-approve-check`,
      );
    }
    const isJoined = isConditionTrue(cluster?.status?.conditions ?? [], "ManagedClusterJoined");
    if (isJoined) {
      say(`${name} has joined the hub`);
      return { name, requests: approved, joined: true };
    }
    const hint = refused && approved.length === 0 ? describeRefusal(name, refused) : undefined;
    if (clock.now() >= untilMs) {
      if (hint !== undefined)
        throw new FlotillaError("NotAccepted", `${cluster ? `${name} is accepted but has not joined: ` : ""}${hint}`);
      if (!cluster && approved.length === 0)
        throw new FlotillaError(
          "NotAccepted",
          `no cluster named ${name} has asked to join; start its agent with the command that 'flotilla token' prints, even if it still runs after an unjoin`,
        );
      if (approved.length > 0 || cluster?.spec.hubAcceptsClient) {
        say(`${name} is accepted; its agent has not reported yet`);
        return { name, requests: approved, joined: false };
      }
    }
    // Without this, a mistyped name would print nothing until the timeout.
    const notice =
      hint ??
      (cluster || approved.length > 0
        ? undefined
        : `no cluster named ${name} has asked to join yet; waiting (Ctrl-C to stop)`);
    if (notice !== undefined && notice !== said) say(notice);
    said = notice ?? said;
    progress(
      cluster || approved.length > 0
        ? `waiting for the agent of ${name} to join with its certificate`
        : `waiting for ${name} to ask to join`,
    );
    await sleep(clock, POLL_MS, signal);
  }
}
