/** How messages name an object: `Deployment shop/web`. */
interface Reference {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export const referenceTitle = ({ kind, namespace, name }: Reference): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

export const objectTitle = ({
  kind,
  metadata,
}: {
  readonly kind: string;
  readonly metadata: Omit<Reference, "kind">;
}): string => referenceTitle({ kind, namespace: metadata.namespace, name: metadata.name });
