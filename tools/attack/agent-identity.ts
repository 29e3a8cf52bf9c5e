/** Join tokens, and the certificates that agents of Karmada's API get with them, as `flotilla token` makes them. */
import { generateKeyPairSync } from "node:crypto";
import { writeCertificateRequest } from "@flotilla/apimachinery";
import type { Api } from "../../test/programs/raw-client.ts";
import { eventually, must, type Credentials, type World } from "./world.ts";

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const AGENTS = "system:karmada:agents";
const GROUPS = {
  karmada: "system:bootstrappers:karmada:default-cluster-token",
  ocm: "system:bootstrappers:managedcluster",
} as const;
const ISSUE_LIMIT_MS = 2_500;
const GRANT_LIMIT_MS = 10_000;
let created = 0;

/** A token for one cluster. */
export async function createJoinToken({ admin }: World, through: keyof typeof GROUPS): Promise<string> {
  // A token id has six characters.
  const id = `a${String(++created).padStart(5, "0")}`;
  const secret = "0123456789abcdef";
  await must(
    admin.create("/api/v1/namespaces/kube-system/secrets", {
      metadata: { name: `bootstrap-token-${id}`, labels: { "flotilla.dev/single-use": "true" } },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        "token-id": id,
        "token-secret": secret,
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": GROUPS[through],
      },
    }),
  );
  return `${id}.${secret}`;
}

/** Requests a certificate for a user. Undefined if it is not issued within some seconds. */
export async function requestCertificate(
  { admin }: World,
  requester: Api,
  user: string,
  group = AGENTS,
): Promise<Credentials | undefined> {
  const name = `attack-${++created}`;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = writeCertificateRequest({ subject: { CN: [user], O: [group] }, publicKey, privateKey });
  const { status } = await requester.create(REQUESTS, {
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "client auth"],
    },
  });
  if (status >= 300) return undefined;
  const cert = await eventually(async () => {
    const { status: state } = (await admin.get(`${REQUESTS}/${name}`)).body as { status?: { certificate?: string } };
    return state?.certificate;
  }, ISSUE_LIMIT_MS);
  if (cert === undefined) return undefined;
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  return { cert: Buffer.from(cert, "base64").toString(), key: key.toString() };
}

/** A registered agent with its own Cluster. */
export async function registerAgent(world: World, cluster: string): Promise<Api> {
  const token = await createJoinToken(world, "karmada");
  const credentials = await requestCertificate(world, world.api({ token }), `system:karmada:agent:${cluster}`);
  if (!credentials) throw new Error(`no certificate was issued for the agent of ${cluster}`);
  const agent = world.api(credentials);
  await must(
    agent.create("/apis/cluster.karmada.io/v1alpha1/clusters", {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: cluster },
      spec: { syncMode: "Pull", apiEndpoint: `https://${cluster}.example.com:6443` },
    }),
  );
  const path = `/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}`;
  world.onEnd(() => world.admin.delete(path));
  // The hub grants the rest of its rights when the Cluster exists.
  const granted = async (): Promise<true | undefined> => {
    const own = await agent.get(path);
    return (await agent.replace(`${path}/status?dryRun=All`, own.text)).status === 200 ? true : undefined;
  };
  if (!(await eventually(granted, GRANT_LIMIT_MS))) throw new Error(`the agent of ${cluster} may not write its status`);
  return agent;
}
