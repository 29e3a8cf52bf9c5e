/** What the controllers of this folder need. One set of them serves all logical clusters. */
import type { Clock, Log } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Informers } from "../runtime/index.ts";
import type { SignRequest } from "./certificates/signing-controller.ts";

export interface SystemDependencies {
  client: Client;
  /** Of all clusters. */
  informers: Informers;
  clock: Clock;
  log: Log;
  /** A cluster that is always there. */
  home: string;
  /** PEM; without it no namespace gets one. */
  rootCertificate: string;
  /** The cluster has a kube-controller-manager of its own, which does the same work. */
  isManagedElsewhere?(cluster: string): boolean;
  /** A token for an account that lives as long as a Secret. */
  issueSecretToken(
    cluster: string,
    namespace: string,
    account: { name: string; uid: string },
    secret: string,
  ): Promise<string>;
  /** Signs requests for client certificates; unset leaves them to others. */
  signRequest?: SignRequest;
}
