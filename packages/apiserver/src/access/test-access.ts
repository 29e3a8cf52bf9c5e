/** A server with two clusters that have Kubernetes' bootstrap roles, for the tests in this folder. */
import { bootstrapRbac, kubernetesKinds } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { Profile } from "../clusters/profiles.ts";
import type { UserInfo } from "../request/user-info.ts";
import { ADMIN, createTestServer } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";
import { createSigningKey } from "./signing-key.ts";

const namespaced = (name: string): KubernetesObject[] => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: name } },
];
/** All kinds and roles of Kubernetes. */
export const FULL_PROFILE: Profile = {
  builtIns: kubernetesKinds,
  customs: [],
  objects: [...namespaced("default"), ...namespaced("kube-system"), ...bootstrapRbac()],
};

export const ANN: UserInfo = { name: "ann", groups: ["system:authenticated"] };
export const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** Generating a key takes longer than all the tests that use it. */
let sharedKey: Promise<string> | undefined;

export interface AccessServer extends TestServer {
  /** Returns status code and body; `headers` may contain impersonation headers. */
  ask(
    user: UserInfo,
    method: string,
    path: string,
    body?: JsonObject,
    headers?: Record<string, string>,
  ): Promise<{ code: number; body: JsonObject }>;
  /** Creates an object as the administrator; fails unless the response is a success. */
  make(path: string, object: JsonObject): Promise<JsonObject>;
  /** Creates a Role in `default` with these rules and binds ann to it. */
  allow(...rules: JsonObject[]): Promise<void>;
}

export async function createAccessServer(): Promise<AccessServer> {
  const test = await createTestServer({
    profiles: { member: FULL_PROFILE },
    clusters: { hub: "member", paris: "member" },
    serviceAccounts: { signingKey: () => (sharedKey ??= createSigningKey()) },
  });
  const { server } = test;
  const signal = new AbortController().signal;
  const access: AccessServer = {
    ...test,
    async ask(user, method, path, body, headers = {}) {
      const [pathname = "", search = ""] = path.split("?");
      const bytes = body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body));
      const response = await server.handle({
        method,
        path: pathname,
        query: new URLSearchParams(search),
        headers: { "user-agent": "test/1", ...headers },
        body: bytes,
        user,
        signal,
      });
      const text = Buffer.concat([response.body].flat() as Uint8Array[]).toString();
      return { code: response.status, body: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {} };
    },
    async make(path, object) {
      const { code, body } = await access.ask(ADMIN, "POST", path, object);
      if (code >= 300) throw new Error(`POST ${path}: ${JSON.stringify(body)}`);
      await test.settle();
      return body;
    },
    async allow(...rules) {
      await access.make(`${RBAC}/namespaces/default/roles`, { metadata: { name: "r" }, rules });
      await access.make(`${RBAC}/namespaces/default/rolebindings`, bindingTo("b", { kind: "Role", name: "r" }));
    },
  };
  return access;
}

export function bindingTo(
  name: string,
  role: { kind: string; name: string },
  subject: JsonObject = { kind: "User", name: "ann" },
): JsonObject {
  return { metadata: { name }, roleRef: { apiGroup: "rbac.authorization.k8s.io", ...role }, subjects: [subject] };
}

export function configMaps(verbs: string[], more: JsonObject = {}): JsonObject {
  return { apiGroups: [""], resources: ["configmaps"], verbs, ...more };
}
