// gpt-tokenizer's types name a class that TypeScript knows only from the DOM; Node has it too.
interface TextDecoder extends InstanceType<typeof globalThis.TextDecoder> {}
