/** What the sender of a certificate request may do, with its identity at the time of the request. */
import { SubjectAccessReview } from "@flotilla/kubernetes";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";

export interface RequesterAction {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  version?: string;
}

/** Uses a SubjectAccessReview: the API server decides what a user may do, not a controller. */
export async function requesterMay(
  client: Client,
  hub: string,
  { spec }: DeepReadonly<CertificateSigningRequest>,
  resourceAttributes: RequesterAction,
  signal: AbortSignal,
): Promise<boolean> {
  const { username, uid, groups, extra } = spec;
  const review = await client.create(
    SubjectAccessReview,
    hub,
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: { user: username || undefined, uid: uid || undefined, groups, extra, resourceAttributes },
    },
    { signal },
  );
  return review.status?.allowed === true;
}
