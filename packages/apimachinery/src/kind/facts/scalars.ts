/** Values whose JSON form is a string or a number. */
export type IntOrString = number | string;
export type Quantity = string | number;
