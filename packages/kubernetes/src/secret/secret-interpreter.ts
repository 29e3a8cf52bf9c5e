/** Secret: the member generates service account tokens. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { withoutAnnotations } from "../interpreter/without-fields.ts";

interface Secret extends KubernetesObject {
  type?: string;
  data?: Record<string, string>;
}

const SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token";

export const secretInterpreter: KindInterpreter<Secret> = {
  group: "",
  kind: "Secret",
  retain: (desired, observed) =>
    desired.type === SERVICE_ACCOUNT_TOKEN && observed.data ? { ...desired, data: observed.data } : desired,
  prune(secret) {
    if (secret.type !== SERVICE_ACCOUNT_TOKEN) return secret;
    const { data: _data, ...rest } = withoutAnnotations(secret, ["kubernetes.io/service-account.uid"]);
    return rest;
  },
};
