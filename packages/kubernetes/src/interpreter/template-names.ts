/** Karmada's labels and annotations of templates and copies that interpreters read. */

/** A label: the member owns the replicas of an existing copy. */
export const RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas";
/** The generation of the template that the object was made of. */
export const TEMPLATE_GENERATION = "resourcetemplate.karmada.io/generation";
