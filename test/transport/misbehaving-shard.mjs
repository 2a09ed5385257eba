// A thread entry that does what it is asked to do wrong.
export default async function handle({ method, args }) {
  if (method === 'answer') return args;
  if (method === 'throw') throw new Error('out of cheese');
  if (method === 'die') process.exit(3);
  if (method === 'spin') for (;;);
  if (method === 'hang') await new Promise(() => {});
  return null;
}
