/** Secret: the member generates service account tokens. */
import { SERVICE_ACCOUNT_TOKEN_TYPE, SERVICE_ACCOUNT_UID_ANNOTATION } from "../well-known-names.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { withoutAnnotations } from "../interpreter/without-fields.ts";

interface Secret extends KubernetesObject {
  type?: string;
  data?: Record<string, string>;
}

export const secretInterpreter: KindInterpreter<Secret> = {
  group: "",
  kind: "Secret",
  retain: (desired, observed) =>
    desired.type === SERVICE_ACCOUNT_TOKEN_TYPE && observed.data ? { ...desired, data: observed.data } : desired,
  prune(secret) {
    if (secret.type !== SERVICE_ACCOUNT_TOKEN_TYPE) return secret;
    const { data: _data, ...rest } = withoutAnnotations(secret, [SERVICE_ACCOUNT_UID_ANNOTATION]);
    return rest;
  },
};
