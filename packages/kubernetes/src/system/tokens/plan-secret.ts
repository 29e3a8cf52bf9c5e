/** The missing fields of a service account token Secret. */
import { defined } from "@flotilla/base";
import { SERVICE_ACCOUNT_NAME_ANNOTATION, SERVICE_ACCOUNT_UID_ANNOTATION } from "../../well-known-names.ts";
import type { Secret } from "../../secret/secret-kind.ts";
import type { DeepReadonly } from "@flotilla/base";

export interface Account {
  name: string;
  uid: string;
}

/**
 * The desired Secret, or undefined if it is correct. `token` is called only if the Secret has none, or one that is not
 * ours.
 */
export async function planSecret(
  secret: DeepReadonly<Secret>,
  account: Account,
  rootCertificate: string,
  token: () => Promise<string>,
  isOwn: (token: string) => Promise<boolean> = async () => true,
): Promise<DeepReadonly<Secret> | undefined> {
  const { data = {}, metadata } = secret;
  const certificate = encode(rootCertificate);
  const needsCertificate = rootCertificate !== "" && data["ca.crt"] !== certificate;
  const needsNamespace = !data.namespace;
  const needsToken = !data.token || !(await isOwn(Buffer.from(data.token, "base64").toString()));
  if (!needsCertificate && !needsNamespace && !needsToken) return undefined;
  return {
    ...secret,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [SERVICE_ACCOUNT_NAME_ANNOTATION]: account.name,
        [SERVICE_ACCOUNT_UID_ANNOTATION]: account.uid,
      },
    },
    data: {
      ...data,
      ...defined({
        "ca.crt": needsCertificate ? certificate : undefined,
        namespace: needsNamespace ? encode(metadata.namespace ?? "") : undefined,
        token: needsToken ? encode(await token()) : undefined,
      }),
    },
  };
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
