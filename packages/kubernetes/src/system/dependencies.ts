/** Dependencies of the controllers in this folder. One set of them serves all logical clusters. */
import type { Clock, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Informers } from "@flotilla/controller-runtime";
import type { CertificateRequest } from "@flotilla/apimachinery";

/** Returns the PEM of a certificate that is valid in this cluster. */
export type SignRequest = (
  cluster: string,
  request: CertificateRequest,
  terms: { usages: readonly string[]; lifetimeMs: number },
) => string;

/** How long a client certificate is valid if the request names no lifetime, and at most. */
export interface CertificateLifetime {
  defaultSeconds: number;
  maxSeconds: number;
}

export interface SystemDependencies {
  client: Client;
  /** The informers of all clusters. */
  informers: Informers;
  clock: Clock;
  log: Log;
  /** A cluster that always exists. */
  home: string;
  /** PEM; if empty, no namespace gets the ConfigMap. */
  rootCertificate: string;
  /** The cluster has its own kube-controller-manager, which does the same work. */
  isManagedElsewhere?(cluster: string): boolean;
  /** Pods run in the cluster and use volumes, with controllers that bind and protect these. */
  runsVolumes?(cluster: string): boolean;
  /** Another API server of the hub has newer keys, and publishes them: two servers would write in turns. */
  isPublishedElsewhere?(): boolean;
  /** Issues a service account token that is valid as long as a Secret exists. */
  issueSecretToken(
    cluster: string,
    namespace: string,
    account: { name: string; uid: string },
    secret: string,
  ): Promise<string>;
  /** Whether a token is one of these; a controller manager may have filled a Secret with a token that is valid nowhere. */
  isOwnToken?(cluster: string, token: string): Promise<boolean>;
  /** Signs requests for client certificates; unset leaves them to other signers. */
  signRequest?: SignRequest;
  /** The lifetime of certificates with this subject; undefined means the usual one. */
  certificateLifetime?(cluster: string, request: CertificateRequest): CertificateLifetime | undefined;
}
