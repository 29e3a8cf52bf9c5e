/**
 * Asks a hub for a client certificate and waits until somebody approves it, for days if need be.
 *
 * Reads and writes: CertificateSigningRequests of the hub. Those that nobody decides on stay for a day, so that their
 * number is bounded here as Open Cluster Management's agents bound it. Those that somebody decided on are nobody's
 * burden.
 */
import { CertificateSigningRequest, CLIENT_SIGNER, requestState } from "../../api/index.ts";
import { FlotillaError, sleep } from "../../base/index.ts";
import type { Clock, Log, Random } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { ApiError } from "../../machinery/index.ts";
import { makeRequest } from "./identity.ts";
import type { AgentIdentity } from "./identity.ts";

const MAX_PENDING = 10;
/** Approval takes a moment where a controller gives it, and hours where a person does. */
const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 15_000;

/** Somebody said no: asking again at once would only ask the same person again. */
export class CertificateDeniedError extends FlotillaError {
  constructor(message: string) {
    super("CertificateDenied", message);
  }
}

export interface CertificateRequestOptions {
  hub: string;
  client: Client;
  identity: AgentIdentity;
  /** How long it shall hold; unset leaves it to the signer. */
  expirationSeconds?: number;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Rejects with `CertificateDeniedError` when it is denied or cannot be signed. */
export async function requestCertificate(
  { hub, client, identity, expirationSeconds, clock, random, log }: CertificateRequestOptions,
  signal: AbortSignal,
): Promise<{ cert: string; key: string }> {
  await checkBound(client, hub, identity, signal);
  const { request, key } = await makeRequest(identity);
  const made = await client.create(
    CertificateSigningRequest,
    hub,
    {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: `${identity.requestPrefix}${suffix(random)}`, labels: { ...identity.labels } },
      spec: {
        request: Buffer.from(request).toString("base64"),
        signerName: CLIENT_SIGNER,
        usages: ["digital signature", "key encipherment", "client auth"],
        expirationSeconds,
      },
    },
    { signal },
  );
  const { name, uid } = made.metadata;
  log.info("asked for a certificate", { request: name, user: identity.commonName });
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(LAST_LOOK_MS, waitMs * 2)) {
    await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
    const found = await look(client, hub, name, signal);
    if (found === "away") continue;
    if (!found || found.metadata.uid !== uid)
      throw new FlotillaError(
        "CertificateRequestGone",
        `the request ${name} for a certificate was removed before anybody decided; the next one is another`,
      );
    const { approved, denied, failed, issued } = requestState(found);
    if (denied || failed)
      throw new CertificateDeniedError(
        `the request ${name} for a certificate was ${denied ? "denied" : "not signed"}: ${found.status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed")?.message ?? "no reason is given"}`,
      );
    if (approved && issued)
      return { cert: Buffer.from(found.status?.certificate ?? "", "base64").toString("utf8"), key };
  }
}

/** A hub that does not answer for a while has not said no. */
async function look(
  client: Client,
  hub: string,
  name: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof find<CertificateSigningRequest>>> | "away"> {
  try {
    return await find(client, CertificateSigningRequest, { cluster: hub, name }, { signal });
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    return "away";
  }
}

async function checkBound(
  client: Client,
  hub: string,
  { labels, commonName }: AgentIdentity,
  signal: AbortSignal,
): Promise<void> {
  const labelSelector = Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
  if (labelSelector === "") return; // Karmada's agents may not list; their requests are approved at once.
  const { items } = await client.list(CertificateSigningRequest, { cluster: hub, labelSelector, signal });
  const pending = items.filter((request) => Object.values(requestState(request)).every((is) => !is)).length;
  if (pending >= MAX_PENDING)
    throw new FlotillaError(
      "CertificateRequests",
      `too many csr: ${pending} requests for ${commonName} wait for somebody on the hub; 'flotilla accept' decides on them, 'kubectl delete csr -l ${labelSelector}' removes them`,
    );
}

function suffix(random: Random): string {
  return Buffer.from(random.bytes(5)).toString("hex");
}
