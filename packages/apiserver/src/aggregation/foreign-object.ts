/** An object of an aggregated server, as garbage collection knows it. */
import type { OwnerReference } from "@flotilla/apimachinery";
import type { RemoteService } from "./remote-service.ts";

export interface ForeignKind {
  readonly remote: RemoteService;
  readonly resource: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

export interface ForeignObject {
  readonly of: ForeignKind;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}
