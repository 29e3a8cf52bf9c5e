/** Kubeconfigs of the accounts of an installation, for programs that run outside of the cluster. */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import { readJson, renderKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { CONTROLLERS_NAME, WEBHOOKS_NAME } from "@flotilla/flotilla";

/** API servers may issue tokens for a shorter time. */
const LIFETIME_SECONDS = 365 * 24 * 60 * 60;

export async function accountKubeconfigs(
  client: Client,
  { namespace, server, ca }: { namespace: string; server: string; ca: string },
  signal: AbortSignal,
): Promise<{ file: string; text: string }[]> {
  const one = async (name: string, file: string): Promise<{ file: string; text: string }> => {
    const { status, body } = await client.raw(
      {
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
        cluster: HUB,
        headers: { "content-type": "application/json", accept: "application/json" },
        body: Buffer.from(
          JSON.stringify({
            apiVersion: "authentication.k8s.io/v1",
            kind: "TokenRequest",
            spec: { expirationSeconds: LIFETIME_SECONDS },
          }),
        ),
      },
      signal,
    );
    const answer = await readJson(body);
    const issued = isObject(answer) && isObject(answer["status"]) ? answer["status"] : {};
    const { token } = issued as { token?: unknown };
    if (status >= 300 || typeof token !== "string")
      throw new FlotillaError("Install", `the API server issued no token for ${namespace}/${name} (status ${status})`);
    return { file, text: renderKubeconfig({ name, server, ca, token }) };
  };
  return [await one(CONTROLLERS_NAME, "controllers.kubeconfig"), await one(WEBHOOKS_NAME, "webhooks.kubeconfig")];
}
