/**
 * Checks the expiry of credentials: the hub's certificate and CA, the user's own, members' tokens, agents'
 * certificates.
 */
import { CertificateSigningRequest, Secret } from "@flotilla/kubernetes";
import { CLUSTER_NAME_LABEL } from "@flotilla/ocm";
import { formatAge, HUB } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { connectionOf, find, loadKubeconfigs } from "@flotilla/client";
import { certificateLifetime, tokenLifetime } from "../certificate-facts.ts";
import type { Lifetime } from "../certificate-facts.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import type { DoctorContext } from "../context.ts";
import { CA_KEY } from "@flotilla/karmada";
import { counted } from "../../text-layout.ts";

export interface Credential extends Lifetime {
  /** `serving certificate of the hub` */
  what: string;
  about: string;
  fix: string;
  commands: readonly string[];
}

export interface CertificateFacts {
  credentials: readonly Credential[];
  unseen: readonly string[];
}

/**
 * A certificate expires soon in the last tenth of its lifetime, but at most thirty days before the end: long-lived
 * certificates need manual action, short-lived ones are renewed automatically.
 */
const SOON_SHARE = 0.1;
const SOON_MS = 30 * 86_400_000;

export const certificatesCheck = defineCheck<CertificateFacts>({
  name: "certificates",
  summary: "certificates and tokens of the hub, the user, members and agents have not expired",
  reports:
    "A problem for credentials that have expired or are not valid yet; a warning in the last tenth of " +
    "their lifetime, at most thirty days before. Checks the hub's serving certificate, the CA, client " +
    "certificate and token of the kubeconfig, the token and CA in the Secret of each push-mode member, and " +
    "the newest certificate issued to each agent. Tokens without an expiry are skipped.",
  async gather(context) {
    const [own, members, agents] = await Promise.all([
      ownCredentials(context),
      memberCredentials(context),
      agentCertificates(context),
    ]);
    return { credentials: [...own, ...members.credentials, ...agents], unseen: members.unseen };
  },
  judge({ credentials, unseen }, { nowMs }) {
    const findings: DoctorFinding[] = [];
    for (const { what, about, fix, commands, fromMs, toMs } of credentials) {
      const soon = Math.min(SOON_MS, (toMs - fromMs) * SOON_SHARE);
      if (toMs <= nowMs)
        findings.push({
          severity: "problem",
          about,
          seen: `The ${what} expired ${formatAge(nowMs - toMs)} ago.`,
          fix,
          commands,
        });
      else if (fromMs > nowMs)
        findings.push({
          severity: "problem",
          about,
          seen: `The ${what} becomes valid in ${formatAge(fromMs - nowMs)}: a clock is wrong.`,
          fix: "Synchronize the clocks.",
          commands: ["flotilla doctor --only clocks"],
        });
      else if (toMs - nowMs < soon)
        findings.push({
          severity: "warning",
          about,
          seen: `The ${what} expires in ${formatAge(toMs - nowMs)}.`,
          fix,
          commands,
        });
    }
    const next = credentials.toSorted((a, b) => a.toMs - b.toMs)[0];
    return {
      seen: next
        ? `${counted(credentials.length, "certificate or token", "certificates and tokens")}; the first expires in ${formatAge(Math.max(0, next.toMs - nowMs))}`
        : "nothing that expires",
      findings,
      unseen,
    };
  },
});

async function ownCredentials({ access, localEnvironment, signal, server }: DoctorContext): Promise<Credential[]> {
  const kubeconfig = access.kubeconfigs.join(", ");
  const connection = await connectionOf(await loadKubeconfigs(access.kubeconfigs), access.context);
  const serving =
    connection.server.protocol === "https:"
      ? certificateLifetime(await localEnvironment.servingCertificate(connection.server, signal))
      : undefined;
  const restart = { fix: "The hub renews its certificate when it starts: restart it.", commands: ["flotilla up"] };
  const renew = {
    fix: "A hub on this machine writes new kubeconfigs when it starts; for another hub, request a new kubeconfig from its administrator.",
    commands: ["flotilla up"],
  };
  const token = typeof connection.token === "string" ? tokenLifetime(connection.token) : undefined;
  return [
    ...some(serving, { what: "serving certificate of the hub", about: `hub ${server}`, ...restart }),
    ...some(connection.ca === undefined ? undefined : certificateLifetime(connection.ca), {
      what: "CA certificate in the kubeconfig",
      about: kubeconfig,
      fix: "Create a new CA: stop the hub, remove pki/ from its data directory and start it; every client then needs a new kubeconfig.",
      commands: ["flotilla up"],
    }),
    ...some(connection.cert === undefined ? undefined : certificateLifetime(connection.cert), {
      what: "client certificate in the kubeconfig",
      about: kubeconfig,
      ...renew,
    }),
    ...some(token, { what: "token in the kubeconfig", about: kubeconfig, ...renew }),
  ];
}

const some = (lifetime: Lifetime | undefined, about: Omit<Credential, keyof Lifetime>): Credential[] =>
  lifetime ? [{ ...lifetime, ...about }] : [];

async function memberCredentials(context: DoctorContext): Promise<CertificateFacts> {
  const unseen: string[] = [];
  const found = await Promise.all((await membersIn(context)).map((cluster) => credentialsOf(context, cluster, unseen)));
  return { credentials: found.flat(), unseen };
}

async function credentialsOf(
  { client, signal }: DoctorContext,
  { metadata: { name }, spec }: DeepReadonly<Cluster>,
  unseen: string[],
): Promise<Credential[]> {
  // An agent's credentials are on the member, and simulated members have none.
  if (!spec.secretRef || spec.syncMode === "Pull") return [];
  const secret = await find(
    client,
    Secret,
    { cluster: HUB, namespace: spec.secretRef.namespace, name: spec.secretRef.name },
    { signal },
  ).catch((error: unknown) => error as Error);
  if (secret instanceof Error) {
    unseen.push(`the credentials of ${name}: ${secret.message}`);
    return [];
  }
  const value = (key: string): string => Buffer.from(secret?.data?.[key] ?? "", "base64").toString("utf8");
  const again = {
    about: `member ${name}`,
    fix: "Join it again under the same name, which renews its credentials.",
    commands: [`flotilla join ${name} --cluster-kubeconfig FILE`],
  };
  return [
    ...some(tokenLifetime(value("token")), { what: "token with which the hub connects to it", ...again }),
    ...some(certificateLifetime(value(CA_KEY)), { what: "CA certificate of its API server", ...again }),
  ];
}

/** The newest certificate of each cluster's agent. */
async function agentCertificates({ lists, only }: DoctorContext): Promise<Credential[]> {
  const newest = new Map<string, Lifetime>();
  for (const { metadata, status } of await lists.all(CertificateSigningRequest)) {
    const cluster = metadata.labels?.[CLUSTER_NAME_LABEL];
    const lifetime = status?.certificate
      ? certificateLifetime(Buffer.from(status.certificate, "base64").toString("utf8"))
      : undefined;
    if (cluster === undefined || !lifetime || (only && !only.has(cluster))) continue;
    if ((newest.get(cluster)?.toMs ?? 0) < lifetime.toMs) newest.set(cluster, lifetime);
  }
  return Array.from(newest, ([cluster, lifetime]) => ({
    ...lifetime,
    what: "certificate of its agent",
    about: `member ${cluster}`,
    fix: "The agent renews it automatically while it runs and the hub accepts it: check the agent, and pending requests.",
    commands: [`flotilla accept ${cluster}`, `kubectl get csr -l ${CLUSTER_NAME_LABEL}=${cluster}`],
  }));
}
