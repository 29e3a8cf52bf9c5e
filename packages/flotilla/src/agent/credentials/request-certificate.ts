/**
 * Requests a client certificate from a hub and waits for approval, for days if necessary.
 *
 * Reads and writes: CertificateSigningRequests of the hub. Pending requests stay for a day, so their number is limited
 * here as Open Cluster Management's agents limit it. Decided requests do not count.
 */
import { CertificateSigningRequest, CLIENT_SIGNER, requestState } from "@flotilla/kubernetes";
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock, Log, Random } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { makeRequest } from "./identity.ts";
import type { AgentIdentity } from "./identity.ts";

const MAX_PENDING = 10;
/** Approval takes a moment by a controller, and hours by a person. */
const FIRST_CHECK_MS = 500;
const MAX_CHECK_INTERVAL_MS = 15_000;

/** The request was denied: an immediate retry would only ask the same approver again. */
export class CertificateDeniedError extends FlotillaError {
  constructor(message: string) {
    super("CertificateDenied", message);
  }
}

export interface CertificateRequestOptions {
  hub: string;
  client: Client;
  identity: AgentIdentity;
  /** Requested lifetime; unset leaves it to the signer. */
  expirationSeconds?: number;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Rejects with `CertificateDeniedError` when it is denied or cannot be signed. */
export async function requestCertificate(
  options: CertificateRequestOptions,
  signal: AbortSignal,
): Promise<{ cert: string; key: string }> {
  const { hub, client, identity, expirationSeconds, clock, random, log } = options;
  await checkBound(client, hub, identity, signal);
  const { request, key } = makeRequest(identity);
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
  log.info("certificate requested", { request: name, user: identity.commonName });
  for (let waitMs = FIRST_CHECK_MS; ; waitMs = Math.min(MAX_CHECK_INTERVAL_MS, waitMs * 2)) {
    await sleep(clock, waitMs * (0.75 + random.next() / 2), signal);
    const found = await look(client, hub, name, signal);
    if (found === "unreachable") continue;
    if (!found || found.metadata.uid !== uid)
      throw new FlotillaError(
        "CertificateRequestGone",
        `certificate signing request ${name} was deleted before it was approved or denied; a new one will be created`,
      );
    const { approved, denied, failed, issued } = requestState(found);
    if (denied || failed) {
      const refusal = found.status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
      throw new CertificateDeniedError(
        `certificate signing request ${name} was ${denied ? "denied" : "not signed"}: ` +
          (refusal?.message ?? "no reason is given"),
      );
    }
    if (approved && issued)
      return { cert: Buffer.from(found.status?.certificate ?? "", "base64").toString("utf8"), key };
  }
}

/** A hub that does not answer for a while has not denied the request. */
async function look(
  client: Client,
  hub: string,
  name: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof find<CertificateSigningRequest>>> | "unreachable"> {
  try {
    return await find(client, CertificateSigningRequest, { cluster: hub, name }, { signal });
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    return "unreachable";
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
  if (labelSelector === "") return; // Karmada's agents may not list requests; theirs are approved at once.
  const { items } = await client.list(CertificateSigningRequest, { cluster: hub, labelSelector, signal });
  const pending = items.filter((request) => Object.values(requestState(request)).every((is) => !is)).length;
  if (pending >= MAX_PENDING)
    throw new FlotillaError(
      "CertificateRequests",
      `too many csr: ${pending} requests for ${commonName} are pending on the hub; approve them with 'flotilla ` +
        `accept', or delete them with 'kubectl delete csr -l ${labelSelector}'`,
    );
}

function suffix(random: Random): string {
  return Buffer.from(random.bytes(5)).toString("hex");
}
