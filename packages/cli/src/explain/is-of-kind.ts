import { gvkOf } from "@flotilla/apimachinery";

/** Whether the object is of the kind, in any version. */
export const isOf = (
  { group, kind }: { readonly group: string; readonly kind: string },
  object: { readonly apiVersion: string; readonly kind: string },
): boolean => object.kind === kind && gvkOf(object).group === group;
