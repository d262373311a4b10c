/* The smallest hook that is linked with a C library. */
int main(void) { return 0; }
