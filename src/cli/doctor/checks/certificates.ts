/**
 * When what the fleet proves itself with ends: the hub's certificate and authority, your own, members' tokens, agents'
 * certificates.
 */
import { CertificateSigningRequest, CLUSTER_NAME_LABEL, Secret } from "../../../api/index.ts";
import type { Cluster } from "../../../api/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { connectionOf, find, loadKubeconfig } from "../../../client/index.ts";
import { formatAge } from "../../../machinery/index.ts";
import { certificateLifetime, tokenLifetime } from "../certificate-facts.ts";
import type { Lifetime } from "../certificate-facts.ts";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";
import { membersIn } from "../context.ts";
import type { DoctorContext } from "../context.ts";

export interface Credential extends Lifetime {
  /** `certificate that the hub shows` */
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
 * The last part of its life is soon, and so are thirty days: long-lived certificates need people, short-lived ones
 * renew themselves.
 */
const SOON_SHARE = 0.1;
const SOON_MS = 30 * 86_400_000;

export const certificatesCheck = defineCheck<CertificateFacts>({
  name: "certificates",
  summary: "certificates and tokens of the hub, of you, of members and of agents have not ended",
  tells:
    "A problem for what has ended, or is not valid yet; a warning in the last tenth of its life, at most thirty days before. It looks at the certificate that the hub shows, at authority, client certificate and token of the kubeconfig, at the token and authority in the Secret of each member that the hub reaches, and at the newest certificate that was issued to each agent. Tokens that do not say when they end are passed over.",
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
          seen: `The ${what} ended ${formatAge(nowMs - toMs)} ago.`,
          fix,
          commands,
        });
      else if (fromMs > nowMs)
        findings.push({
          severity: "problem",
          about,
          seen: `The ${what} is valid only in ${formatAge(fromMs - nowMs)}: a clock is wrong.`,
          fix: "Set the clocks.",
          commands: ["flotilla doctor --only clocks"],
        });
      else if (toMs - nowMs < soon)
        findings.push({
          severity: "warning",
          about,
          seen: `The ${what} ends in ${formatAge(toMs - nowMs)}.`,
          fix,
          commands,
        });
    }
    const next = credentials.toSorted((a, b) => a.toMs - b.toMs)[0];
    return {
      seen: next
        ? `${counted(credentials.length, "certificate or token", "certificates and tokens")}; the first ends in ${formatAge(Math.max(0, next.toMs - nowMs))}`
        : "nothing that ends",
      findings,
      unseen,
    };
  },
});

async function ownCredentials({ kubeconfig, surroundings, signal, server }: DoctorContext): Promise<Credential[]> {
  const connection = await connectionOf(await loadKubeconfig(kubeconfig));
  const serving =
    connection.server.protocol === "https:"
      ? certificateLifetime(await surroundings.servingCertificate(connection.server, signal))
      : undefined;
  const restart = { fix: "The hub renews its certificate when it starts: start it again.", commands: ["flotilla up"] };
  const renew = {
    fix: "A hub on this machine writes new kubeconfigs when it starts; elsewhere ask whoever gave you this one.",
    commands: ["flotilla up"],
  };
  const token = typeof connection.token === "string" ? tokenLifetime(connection.token) : undefined;
  return [
    ...some(serving, { what: "certificate that the hub shows", about: `hub ${server}`, ...restart }),
    ...some(connection.ca === undefined ? undefined : certificateLifetime(connection.ca), {
      what: "certificate authority in the kubeconfig",
      about: kubeconfig,
      fix: "Make a new authority: stop the hub, remove pki/ from its data directory and start it; everybody then needs a new kubeconfig.",
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
  // An agent's are on the member, and simulated members have none.
  if (!spec.secretRef || spec.syncMode === "Pull") return [];
  const secret = await find(
    client,
    Secret,
    { cluster: "hub", namespace: spec.secretRef.namespace, name: spec.secretRef.name },
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
    ...some(tokenLifetime(value("token")), { what: "token with which the hub reaches it", ...again }),
    ...some(certificateLifetime(value("caBundle")), { what: "authority of its API server", ...again }),
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
    fix: "The agent renews it by itself while it runs and the hub accepts it: look at the agent, and at requests that wait.",
    commands: [`flotilla accept ${cluster}`, `kubectl get csr -l ${CLUSTER_NAME_LABEL}=${cluster}`],
  }));
}
